package canary

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, configureStories))
}
