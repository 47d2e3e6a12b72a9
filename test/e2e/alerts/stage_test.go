package alerts

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, func(o *controlplane.Options) {
		*o = o.WithApplications()
		o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
		o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks")
	}))
}
