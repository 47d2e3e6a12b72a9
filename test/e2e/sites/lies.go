package sites

import (
	"github.com/intentplane/intentplane/test/promserver"
)

// sufficientLies are more than it takes for a verdict, if they counted. Silence takes long.
func sufficientLies(lie promserver.Lie) int {
	if lie == promserver.LieSilence {
		return 2
	}
	return 5
}
