// This module pins gofumpt, of the version that golangci-lint has.
module github.com/intentplane/intentplane/tools/gofumpt

go 1.26.0

require mvdan.cc/gofumpt v0.9.2

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/mod v0.29.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
)
