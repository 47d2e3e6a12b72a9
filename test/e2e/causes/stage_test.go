package causes

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, func(o *controlplane.Options) {
		o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
		o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks", "--leader-election")
		o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-cooldown="+cooldown.String(), tokensPerSecond)
	}))
}
