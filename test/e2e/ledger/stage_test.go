package ledger

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	judges = startJudgeServer()
	code := scene.Main(m, &cp, configureStories)
	judges.closeServer()
	os.Exit(code)
}
