// This module checks the modules of this project for known vulnerabilities. It runs govulncheck of tools/govulncheck with the entries of tools/vulndb.
module github.com/intentplane/intentplane/tools/vulncheck

go 1.26.0

require github.com/google/go-cmp v0.7.0
