package ledger

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	judges = newJudge()
	code := scene.Main(m, &cp, allowTests)
	judges.closeServer()
	os.Exit(code)
}
