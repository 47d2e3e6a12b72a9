package sites

import (
	"github.com/intentplane/intentplane/test/scene"
)

const isLive = " | True | Live | Live"

func siteDirectory(*scene.Scene) string { return "clusters/edge1" }

func claimDirectory(s *scene.Scene) string { return s.Directory("edge1", claim) }
