package scene

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
)

// parallel is how many tests run at once. They wait most of the time, so that the number of processors does not matter.
const parallel = "12"

// Main starts the control plane of a package's tests, runs them, and returns the code to exit with. The tests fail also when a component ends
// by itself. The options of the control plane may be changed.
func Main(m *testing.M, cp **controlplane.ControlPlane, changes ...func(*controlplane.Options)) int {
	if err := flag.Set("test.parallel", parallel); err != nil {
		return printError(err)
	}
	o, err := controlplane.Product()
	if err != nil {
		return printError(err)
	}
	o.KeepDirOnFailure = true
	for _, change := range changes {
		change(&o)
	}
	watch := startStopwatch()
	if *cp, err = controlplane.Start(context.Background(), o); err != nil {
		return printError(err)
	}
	watch.recordPartTime("start")
	code := m.Run()
	watch.recordPartTime("stories")
	if err := (*cp).Err(); err != nil {
		code = printError(err)
	}
	if err := (*cp).Stop(); err != nil {
		code = printError(err)
	}
	if err := watch.writeSeconds(*cp); err != nil {
		code = printError(err)
	}
	return code
}

func printError(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
