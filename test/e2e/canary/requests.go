package canary

import (
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/tree"
)

const (
	// perSecond is how many requests users send all the time.
	perSecond = 100

	// drain is how long a track stays after it lost its requests. It has to be longer than the gateway takes to follow.
	drain = 5 * time.Second
)

// withAnnotation makes the pods of track green behave otherwise than the pods of other tests.
func withAnnotation(files tree.Files, annotation string, d time.Duration) tree.Files {
	const name = "green/deployment-web-green.yaml"
	files[name] = []byte(strings.Replace(string(files[name]), "        revision:", "        "+annotation+": "+d.String()+"\n        revision:", 1))
	return files
}
