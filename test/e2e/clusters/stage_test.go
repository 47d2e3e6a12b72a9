package clusters

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, func(o *controlplane.Options) { o.Audit = []byte(audit) }))
}
