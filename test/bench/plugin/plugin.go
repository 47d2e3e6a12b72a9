// Package plugin measures kubectl-intent on an API server with objects as function and provider write them.
package plugin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const (
	// crowdOfWhy is the number of deployments among which why explains one, and crowdOfStatus the number that status lists.
	crowdOfWhy    = 200
	crowdOfStatus = 1000

	// runsOfWhy and runsOfStatus are the numbers of runs of a command.
	runsOfWhy    = 40
	runsOfStatus = 5

	// watched is the duration of a measurement of a program's processor time.
	watched = 30 * time.Second

	// changeInterval is the time between two changes of each deployment that status --watch follows.
	changeInterval = 5 * time.Second

	// mostSites is the number of Sites of a deployment.
	mostSites = 10
)

// A pluginBench is an API server with objects as function and provider write them, and no Crossplane.
type pluginBench struct {
	cp *controlplane.ControlPlane

	// shown is the number of deployments.
	shown int
}

// Figures are the response times of kubectl-intent, and the cost of observing deployments.
func Figures() []series.Figure {
	p := &pluginBench{}
	withCrowd := func(n int, measure func(context.Context) (float64, error)) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return p.measureAmong(ctx, n, measure) }
	}
	return []series.Figure{
		series.NewFigure("why_ms", "ms", withCrowd(crowdOfWhy, p.measureWhyTime(0.5))),
		series.NewFigure("why_p95_ms", "ms", withCrowd(crowdOfWhy, p.measureWhyTime(0.95))),
		series.NewFigure("why_requests", "requests", withCrowd(crowdOfWhy, p.whyRequests)),
		series.NewFigure("status_watch_cpu_percent", "%", withCrowd(crowdOfWhy, p.watchProcessor)),
		series.NewFigure("doctor_s", "s", withCrowd(crowdOfWhy, p.measureDoctorTime)),
		series.NewFigure("status_all_1000_ms", "ms", withCrowd(crowdOfStatus, p.measureStatusTime)),
		series.NewFigure("observer_cpu_percent", "%", p.observerProcessor),
	}
}

// measureAmong measures once there are so many deployments.
func (p *pluginBench) measureAmong(ctx context.Context, n int, measure func(context.Context) (float64, error)) (float64, error) {
	if p.cp == nil {
		if err := p.openControlPlane(ctx, controlplane.StartServer); err != nil {
			return 0, err
		}
	}
	if err := p.publishUpTo(ctx, n); err != nil {
		return 0, errors.Join(err, p.stopControlPlane())
	}
	v, err := measure(ctx)
	if err != nil || n == crowdOfStatus {
		err = errors.Join(err, p.stopControlPlane())
	}
	return v, err
}

func (p *pluginBench) openControlPlane(ctx context.Context, start func(context.Context, ...string) (*controlplane.ControlPlane, error)) error {
	dir, err := os.MkdirTemp("", "definitions-")
	if err != nil {
		return errors.Wrap(err, "cannot make directory")
	}
	defer os.RemoveAll(dir)
	if err := controlplane.WriteDefinitions(dir); err != nil {
		return err
	}
	tools, err := toolbox.Find(ctx)
	if err != nil {
		return err
	}
	if p.cp, err = start(ctx, dir, tools.CrossplaneCRDs); err != nil {
		return err
	}
	p.shown = 0
	return nil
}

func (p *pluginBench) stopControlPlane() error {
	err := p.cp.Stop()
	p.cp = nil
	return err
}

// benchNamespace is the namespace of all deployments: a list of it has all of them.
const benchNamespace = "team-a"

// publishUpTo writes the objects of deployments until there are n.
func (p *pluginBench) publishUpTo(ctx context.Context, n int) error {
	if p.shown == 0 {
		if err := p.writeInstallation(ctx); err != nil {
			return err
		}
	}
	for ; p.shown < n; p.shown++ {
		if err := p.publishSample(ctx, fmt.Sprintf("shop-%d", p.shown)); err != nil {
			return err
		}
	}
	return nil
}

// writeInstallation writes a namespace, ten configurations, and the objects that Crossplane and the packages make.
func (p *pluginBench) writeInstallation(ctx context.Context) error {
	all, err := samples.Installation()
	if err != nil {
		return err
	}
	if err := p.cp.ApplyYAML(ctx, fmt.Appendf(nil, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: crossplane-system}}\n", benchNamespace)); err != nil {
		return err
	}
	for _, o := range all {
		// Policies would deny objects that only Crossplane may write.
		if strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") {
			continue
		}
		if err := p.writeWithStatus(ctx, o); err != nil {
			return err
		}
	}
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	return p.cp.Apply(ctx, filepath.Join(root, "examples", "rbac"))
}

// publishSample writes the objects of one deployment: it has ten Sites, at one of which its engine is at work.
func (p *pluginBench) publishSample(ctx context.Context, name string) error {
	all, err := samples.EngineFailed().Objects()
	if err != nil {
		return err
	}
	for _, o := range all {
		renamed, err := renameSample(o, name)
		if err != nil {
			return err
		}
		if renamed.GetKind() == "SiteSync" {
			if err := addSitesToSync(renamed); err != nil {
				return err
			}
		}
		if err := p.writeWithStatus(ctx, renamed); err != nil {
			return err
		}
	}
	return nil
}

// renameSample returns an object of the sample as one of another deployment: its name, and all that refers to it.
func renameSample(o *unstructured.Unstructured, name string) (*unstructured.Unstructured, error) {
	b, err := o.MarshalJSON()
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode sample")
	}
	out := &unstructured.Unstructured{}
	err = out.UnmarshalJSON([]byte(strings.ReplaceAll(string(b), "shop", name)))
	return out, errors.Wrap(err, "cannot decode sample")
}

// addSitesToSync gives a SiteSync ten Sites, the Sites of the sample first.
func addSitesToSync(o *unstructured.Unstructured) error {
	for _, fields := range [][]string{{"spec", "forProvider", "sites"}, {"status", "atProvider", "sites"}} {
		sites, _, err := unstructured.NestedSlice(o.Object, fields...)
		if err != nil || len(sites) == 0 {
			return errors.Errorf("the sample has no %s: %v", strings.Join(fields, "."), err)
		}
		for i := len(sites); i < mostSites; i++ {
			site := runtime.DeepCopyJSON(sites[0].(map[string]any))
			site["name"] = fmt.Sprintf("edge%d", i+1)
			sites = append(sites, site)
		}
		if err := unstructured.SetNestedSlice(o.Object, sites, fields...); err != nil {
			return err
		}
	}
	return nil
}

// writeWithStatus writes an object, and then its status, whose conditions are of the generation that the API server gave.
func (p *pluginBench) writeWithStatus(ctx context.Context, o *unstructured.Unstructured) error {
	status := o.Object["status"]
	created := o.DeepCopy()
	if err := p.cp.Client.Create(ctx, created); err != nil {
		return errors.Wrapf(err, "cannot create %s %s", o.GetKind(), o.GetName())
	}
	if status == nil {
		return nil
	}
	created.Object["status"] = status
	conditions, _, err := unstructured.NestedSlice(created.Object, "status", "conditions")
	if err != nil {
		return errors.Wrap(err, "cannot read conditions of sample")
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["observedGeneration"] != nil {
			c["observedGeneration"] = created.GetGeneration()
		}
	}
	if err := unstructured.SetNestedSlice(created.Object, conditions, "status", "conditions"); err != nil {
		return errors.Wrap(err, "cannot write conditions of sample")
	}
	return errors.Wrapf(p.cp.Client.Status().Update(ctx, created), "cannot write the status of %s %s", o.GetKind(), o.GetName())
}

// pluginCommand returns kubectl-intent, as "make build" left it.
func (p *pluginBench) pluginCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, filepath.Join(root, "_output", "bin", "kubectl-intent"), append(args, "--kubeconfig", p.cp.Kubeconfig)...), nil
}

// timeCommand returns the time that the command took, from its start to its end. Its output has to have a text.
func (p *pluginBench) timeCommand(ctx context.Context, says string, args ...string) (time.Duration, error) {
	c, err := p.pluginCommand(ctx, args...)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	out, err := c.CombinedOutput()
	took := time.Since(began)
	// Doctor exits with 1 for its findings.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || !strings.Contains(string(out), says) {
		return 0, errors.Errorf("kubectl-intent %s does not say %q: %v: %.1000s", strings.Join(args, " "), says, err, out)
	}
	return took, nil
}

// runWhyInTurn runs why for deployments in turn.
func (p *pluginBench) runWhyInTurn(ctx context.Context) ([]float64, error) {
	var out []float64
	for i := range runsOfWhy {
		took, err := p.timeCommand(ctx, "Who acts:", "why", fmt.Sprintf("shop-%d", i), "-n", benchNamespace)
		if err != nil {
			return nil, err
		}
		out = append(out, stats.Milliseconds(took))
	}
	slices.Sort(out)
	return out, nil
}

// measureWhyTime returns a quantile of the duration of why.
func (p *pluginBench) measureWhyTime(quantile float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		all, err := p.runWhyInTurn(ctx)
		if err != nil {
			return 0, err
		}
		return all[int(quantile*float64(len(all)-1))], nil
	}
}

// whyRequests counts the requests of why to the API server, by a proxy between both.
func (p *pluginBench) whyRequests(ctx context.Context) (float64, error) {
	requestCount := &atomic.Int64{}
	proxy, err := p.startCountingProxy(requestCount)
	if err != nil {
		return 0, err
	}
	defer proxy.Close()
	file := p.cp.File("counted.kubeconfig")
	if err := writeProxyKubeconfig(file, proxy.URL); err != nil {
		return 0, err
	}
	c, err := p.pluginCommand(ctx, "why", "shop-7", "-n", benchNamespace)
	if err != nil {
		return 0, err
	}
	c.Args[len(c.Args)-1] = file
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Who acts:") {
		return 0, errors.Errorf("why does not say who acts: %v: %s", err, out)
	}
	return float64(requestCount.Load()), nil
}

func (p *pluginBench) startCountingProxy(requestCount *atomic.Int64) (*httptest.Server, error) {
	target, err := url.Parse(p.cp.Config.Host)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse address of API server")
	}
	transport, err := rest.TransportFor(p.cp.Config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect to API server")
	}
	r := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		requestCount.Add(1)
		r.ServeHTTP(w, q)
	})), nil
}

func writeProxyKubeconfig(file, address string) error {
	c := clientcmdapi.NewConfig()
	c.Clusters["counted"] = &clientcmdapi.Cluster{Server: address}
	c.Contexts["counted"] = &clientcmdapi.Context{Cluster: "counted"}
	c.CurrentContext = "counted"
	return errors.Wrap(clientcmd.WriteToFile(*c, file), "cannot write kubeconfig")
}

// measureStatusTime returns the time that a list of all deployments takes.
func (p *pluginBench) measureStatusTime(ctx context.Context) (float64, error) {
	var out []float64
	for range runsOfStatus {
		took, err := p.timeCommand(ctx, fmt.Sprintf("shop-%d ", crowdOfStatus-1), "status", "-A")
		if err != nil {
			return 0, err
		}
		out = append(out, stats.Milliseconds(took))
	}
	return stats.Median(out), nil
}
