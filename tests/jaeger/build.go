//go:build build

// Package jaeger pins the Jaeger that the tests run. Its module has replace directives, which
// `go install module@version` refuses; required from here, it builds like any other dependency.
package jaeger

import _ "github.com/jaegertracing/jaeger/cmd/jaeger"
