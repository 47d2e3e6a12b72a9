package applications

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(runSuite(m))
}
