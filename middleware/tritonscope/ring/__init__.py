"""The ring: how records leave a stub process. One file a stub, one writer, one reader, no lock between them."""
