"""Our own `triton_python_backend_utils` and `c_python_backend_utils`: what a Python model imports and gets.

Names, signatures, checks and error texts follow Triton 2.51 (r24.10), as seen on the real server.
"""
