package sites

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	code := scene.Main(m, &cp, allowLoopbackChecks)
	spans.Close()
	_ = os.Remove(trustedPath())
	os.Exit(code)
}
