// This module pins the Go vulnerability database, whose entries tools/vulncheck reads. "go get golang.org/x/vulndb@latest" here takes a newer one.
module github.com/intentplane/intentplane/tools/vulndb

go 1.26.0

require golang.org/x/vulndb v0.0.0-20261105234957-e22db6528018
