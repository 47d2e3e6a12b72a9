package crowds

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// profileVariable names the directory that gets a profile of the API server for each crowd of deployments. Without it no profile is written.
	profileVariable = "BENCH_PROFILES"
	// profiledSeconds is the duration of the API server's profile: as long as the quickest crowd of 200 keeps it busy.
	profiledSeconds = "8"
)

// processorTimes are the seconds that each component kept a processor busy.
type processorTimes map[string]float64

// readProcessorTimes reads the processor time of each component up to now.
func readProcessorTimes(cp *controlplane.ControlPlane) (processorTimes, error) {
	out := processorTimes{}
	for name, pid := range cp.Processes() {
		took, err := process.CPUSeconds(pid)
		if err != nil {
			return nil, err
		}
		out[name] = took
	}
	return out, nil
}

// printTimesSince prints the processor time of each component since then for one of some deployments, the most expensive first.
func (t processorTimes) printTimesSince(w io.Writer, cp *controlplane.ControlPlane, deployments int) error {
	now, err := readProcessorTimes(cp)
	if err != nil {
		return err
	}
	perDeployment := map[string]float64{}
	for name, took := range now {
		perDeployment[name] = 1000 * (took - t[name]) / float64(deployments)
	}
	names := slices.SortedFunc(maps.Keys(perDeployment), func(a, b string) int { return cmp.Compare(perDeployment[b], perDeployment[a]) })
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "processor %.1f ms each %s\n", perDeployment[name], name); err != nil {
			return err
		}
	}
	return nil
}

// startProfile profiles the API server, if a directory is named for that. It returns a function that waits for the profile to be written.
func startProfile(ctx context.Context, cp *controlplane.ControlPlane, name string) func() error {
	dir := os.Getenv(profileVariable)
	if dir == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() { done <- writeProfile(ctx, cp, filepath.Join(dir, name+".pprof")) }()
	return func() error { return <-done }
}

// writeProfile writes a profile of the API server's next seconds.
func writeProfile(ctx context.Context, cp *controlplane.ControlPlane, file string) error {
	k, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return errors.Wrap(err, "cannot make client")
	}
	b, err := k.RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", profiledSeconds).DoRaw(ctx)
	if err != nil {
		return errors.Wrap(err, "cannot profile the API server")
	}
	return errors.Wrap(os.WriteFile(file, b, 0o600), "cannot write profile")
}
