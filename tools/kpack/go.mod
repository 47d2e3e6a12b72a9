// This module pins kpack, which builds images of source code in tests.
module github.com/intentplane/intentplane/tools/kpack

go 1.26.0

replace github.com/docker/docker v28.2.2+incompatible => github.com/docker/docker v28.5.2+incompatible

require github.com/pivotal/kpack v0.17.2
