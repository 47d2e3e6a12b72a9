package live

import (
	"cmp"
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// defaultStep is the step whose log says the most of a build that succeeded.
const defaultStep = "build"

// Logs shows the measurements of a check, or the log of a build.
type Logs struct {
	connection.Flags
	terminal.FormFlag

	Name  string `arg:""                       help:"Name of an IntentDeployment or an Application. With --build, of an Application with a source."  predictor:"claim"`
	Check string `arg:""                       help:"Name of a check: shows its measurements at each Site."                                          optional:""`

	Build  bool   `help:"Show the log of the build. Other logs are at the Sites: kubectl logs shows them there."`
	Step   string `help:"Step of the build, such as detect, build or export. Without it the running or failed step, else build."`
	Follow bool   `help:"Go on until the step of the build ends."                                             short:"f"`
}

// Run prints the measurements of a check, or copies the log of one step of the build. It returns an error for missing or unreadable objects.
func (c *Logs) Run(s *terminal.Streams) error {
	switch isOfBuild := c.Step != "" || c.Follow; {
	case c.Build && (c.Check != "" || c.Output != "text"):
		return terminal.UsageError{Err: errors.New("a build has no check, and its log no other form than text")}
	case c.Build:
		return c.printBuildLog(s)
	case isOfBuild:
		return terminal.UsageError{Err: errors.New("--step and --follow are for --build")}
	}
	return c.showMeasured(s)
}

// printBuildLog copies the log of one step of the build. It returns an error when nothing was built, or the log cannot be read.
func (c *Logs) printBuildLog(s *terminal.Streams) error {
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	ctx := context.Background()
	name, found, err := subject.FindBuilt(ctx, opened, c.Name)
	if err != nil {
		return err
	}
	b, err := opened.ImageBuild(ctx, found.Applications[0].Application.GroupVersionKind().Group, name)
	if err != nil {
		return err
	}
	build, step := lastBuildOf(b.Status.AtProvider)
	if build == "" {
		return errors.Errorf("%s: nothing was built yet: kubectl intent why shows the obstacle", name)
	}
	pod, err := opened.PodOfBuild(ctx, build)
	if err != nil {
		return err
	}
	log, err := opened.StreamLog(ctx, pod, cmp.Or(c.Step, step), c.Follow)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	_, err = io.Copy(s.Out, log)
	return errors.Wrap(err, "cannot read the log")
}

// lastBuildOf returns the last Build, and the step whose log says the most.
func lastBuildOf(observation buildv1alpha1.ImageBuildObservation) (build, step string) {
	switch {
	case observation.Running != nil:
		return observation.Running.Build, cmp.Or(observation.Running.Step, defaultStep)
	case observation.Failed != nil:
		return observation.Failed.Build, cmp.Or(observation.Failed.Step, defaultStep)
	case observation.Latest != nil:
		return observation.Latest.Build, defaultStep
	}
	return "", ""
}
