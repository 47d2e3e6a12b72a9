package deliveries

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	bundlestate "github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/hostile"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// totalPlace is the namespace of the hostile tenant, and measuredPlace the namespace of its Gates.
	totalPlace    = "hostile-total"
	measuredPlace = "hostile-gates"

	// totalWorkers SiteSyncs observe totalSites Sites each, whose API servers are hostile.
	totalWorkers, totalSites = 50, 16

	// totalGits servers get three GitDeliveries each, and totalSources repositories with source one ImageBuild each.
	totalGits, totalSources = 20, 40

	// totalGates Gates query a server whose responses have the maximum size.
	totalGates = 32

	// totalRecords Secrets have recordBytes each. A plan of the tenant reads all of them, again and again.
	totalRecords, recordBytes = 60, 700 << 10

	// totalHooks connections begin a webhook, and send no more.
	totalHooks = 16

	// totalTime is the minimum duration of the load.
	totalTime = 3 * time.Minute
)

// A hostileTotal runs all loads of a tenant at once that use memory and time of the provider.
type hostileTotal struct {
	s *room
	// ends stop the servers and the loops of the tenant.
	ends []func()
}

// hostileTotalFigures are the memory that the tenant takes, and the delay of each kind of work of its neighbour.
func hostileTotalFigures(s *room) []series.Figure {
	h, names := &hostileTotal{s: s}, []string{"peak_mib"}
	for _, w := range (&neighbour{}).neighbourWorks() {
		names = append(names, w.name)
	}
	all := &series.Series{Base: h.openControlPlane, Parts: []series.Part{{Figures: names, Measure: h.measureTotal}}}
	out := []series.Figure{series.NewFigure("hostile_total_peak_mib", "MiB", all.Figure("peak_mib"))}
	for _, name := range names[1:] {
		out = append(out, series.NewFigure("hostile_total_"+name+"_ratio", "times", all.Figure(name)))
	}
	return out
}

// measureTotal measures a neighbour alone and beside the tenant, and the peak of the provider's memory meanwhile.
func (h *hostileTotal) measureTotal(ctx context.Context, figures map[string]float64) error {
	defer func() {
		for _, end := range slices.Backward(h.ends) {
			end()
		}
	}()
	alone, err := h.measureNeighbour(ctx, "total-alone")
	if err != nil {
		return err
	}
	rest, err := h.s.ReadProcessMemory("VmRSS")
	if err != nil {
		return err
	}
	// From here on the kernel counts the peak again.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", h.s.CP.ProviderPID()), []byte("5"), 0); err != nil {
		return errors.Wrap(err, "cannot reset the peak of the provider's memory")
	}
	began := time.Now()
	if err := h.startTenant(ctx); err != nil {
		return err
	}
	beside, err := h.measureNeighbour(ctx, "total-beside")
	if err != nil {
		return err
	}
	if err := process.Wait(ctx, max(0, totalTime-time.Since(began))); err != nil {
		return err
	}
	peak, err := h.s.ReadProcessMemory("VmHWM")
	if err != nil {
		return err
	}
	figures["peak_mib"] = peak - rest
	for name, took := range beside {
		figures[name] = took / alone[name]
	}
	fmt.Fprintf(os.Stderr, "beside everything hostile: %v, alone: %v s, beside: %v s\n", figures, alone, beside)
	return nil
}

// openControlPlane starts a control plane with Applications and an address for webhooks, in the place of another one.
func (h *hostileTotal) openControlPlane(ctx context.Context, _ map[string]float64) error {
	if err := h.s.Close(); err != nil {
		return err
	}
	free, err := port.Free(1)
	if err != nil {
		return err
	}
	h.s.HasBundles, h.s.Hooks = true, fmt.Sprintf("127.0.0.1:%d", free[0])
	return h.s.Open(ctx)
}

// startTenant starts all that the tenant does.
func (h *hostileTotal) startTenant(ctx context.Context) error {
	l, err := load.New(h.s.CP)
	if err != nil {
		return err
	}
	for _, start := range []func(context.Context, *load.Load) error{h.startGitServers, h.startSources, h.startClusters, h.startGates, h.startRecords, h.startWebhooks} {
		if err := start(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// startGitServers makes the place of the tenant, and deliveries to its Git servers.
func (h *hostileTotal) startGitServers(ctx context.Context, l *load.Load) error {
	newServers := []func() *hostile.Git{
		func() *hostile.Git { return hostile.NewGit(hostile.TinyObjects(190_000)) },
		func() *hostile.Git { return hostile.NewGit(hostile.BrokenPack()) },
		func() *hostile.Git { return hostile.NewGitWithRefs(1_000_000) },
	}
	for g := range hostile.Graphs() {
		newServers = append(newServers, func() *hostile.Git { return hostile.NewGitOf(g) })
	}
	ways := make([]load.Way, totalGits)
	for n := range ways {
		s := newServers[n%len(newServers)]()
		h.ends = append(h.ends, s.Stop)
		ways[n].URL = s.RepositoryURL()
	}
	if err := l.HostilePlace(ctx, totalPlace, ways); err != nil {
		return err
	}
	return l.DeliverBy(ctx, load.Keys(3*totalGits, totalPlace), totalGits)
}

const hostileSource = `
apiVersion: build.intentplane.dev/v1alpha1
kind: ImageBuild
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    claimRef: {apiGroup: intentplane.dev, kind: Application, namespace: %[2]s, name: %[1]s}
    source: {git: {url: "%[3]s", revision: main}, interval: 30s}
`

// startSources makes ImageBuilds of repositories that list a million refs each.
func (h *hostileTotal) startSources(ctx context.Context, _ *load.Load) error {
	s := hostile.NewGitWithRefs(1_000_000)
	h.ends = append(h.ends, s.Stop)
	for n := range totalSources {
		name := fmt.Sprintf("source-%d", n)
		if err := h.s.CP.ApplyYAML(ctx, fmt.Appendf(nil, hostileSource, name, totalPlace, fmt.Sprintf("%s/%s.git", s.URL, name))); err != nil {
			return err
		}
	}
	return nil
}

const hostileTotalSite = `
apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: %[1]s}
spec:
  owner: {apiGroup: cluster.intentplane.dev, kind: ManagedCluster, namespace: %[2]s, name: %[1]s, uid: %[1]s}
  cluster: {kubeconfigSecretRef: {namespace: %[2]s, name: %[1]s}}
  engine:
    type: Flux
    objectRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: edge}
  repository: {path: clusters/%[1]s}
  allowedNamespaces: [%[2]s]
`

// startClusters makes Sites that the tenant published, and as many SiteSyncs of all of them as there are workers.
func (h *hostileTotal) startClusters(ctx context.Context, l *load.Load) error {
	names, answers := make([]string, totalSites), [][2]http.HandlerFunc{
		{hostile.EndlessList, nil}, {hostile.EndlessZippedList, nil}, {nil, hostile.EndlessEvent}, {nil, hostile.EndlessEvents},
	}
	for n := range names {
		names[n] = fmt.Sprintf("hostile-site-%d", n)
		list, watch := answers[n%len(answers)][0], answers[n%len(answers)][1]
		if err := h.startCluster(ctx, names[n], hostile.New(list, watch)); err != nil {
			return err
		}
	}
	for n := range totalWorkers {
		if err := l.ObserveSites(ctx, types.NamespacedName{Namespace: totalPlace, Name: fmt.Sprintf("sync-%d", n)}, names); err != nil {
			return err
		}
	}
	return nil
}

// startCluster makes a Site that the tenant published, whose cluster is hostile.
func (h *hostileTotal) startCluster(ctx context.Context, name string, c *hostile.Cluster) error {
	h.ends = append(h.ends, c.Stop)
	kubeconfig, err := c.Kubeconfig()
	if err != nil {
		return errors.Wrap(err, "cannot write kubeconfig")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: totalPlace, Name: name}, Data: map[string][]byte{"value": kubeconfig}}
	if err := h.s.CP.Client.Create(ctx, secret); err != nil {
		return errors.Wrap(err, "cannot create kubeconfig")
	}
	return h.s.CP.ApplyYAML(ctx, fmt.Appendf(nil, hostileTotalSite, name, totalPlace))
}

// startGates makes Gates whose server sends large answers.
func (h *hostileTotal) startGates(ctx context.Context, l *load.Load) error {
	s := newMetricsServer(`,"rest":"` + strings.Repeat("x", 1000<<10) + `"`)
	h.ends = append(h.ends, s.Close)
	if err := l.Measured(ctx, measuredPlace, stage.Often, s.URL); err != nil {
		return err
	}
	keys := load.Keys(totalGates, measuredPlace)
	if err := l.DeliverAll(ctx, keys); err != nil {
		return err
	}
	return l.Judge(ctx, keys, time.Second, totalGates)
}

// startRecords makes large records, and makes plans that read them until the tenant ends.
func (h *hostileTotal) startRecords(ctx context.Context, _ *load.Load) error {
	for n := range totalRecords {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: totalPlace, Name: fmt.Sprintf("record-%d", n)}, Type: bundlestate.SecretType,
			Data: map[string][]byte{"data": []byte(strings.Repeat("x", recordBytes))},
		}
		if err := h.s.CP.Client.Create(ctx, secret); err != nil {
			return errors.Wrap(err, "cannot create record")
		}
	}
	planning, end := context.WithCancel(ctx)
	h.ends = append(h.ends, end)
	go func() {
		for n := 0; process.Wait(planning, 200*time.Millisecond) == nil; n++ {
			plan := stage.NewObject("state.intentplane.dev/v1alpha1", "PruneRequest", totalPlace, fmt.Sprintf("plan-%d", n))
			plan.Object["spec"] = map[string]any{"scope": "Bundle"}
			_ = h.s.CP.ApplyObject(planning, plan) // The API server may refuse the last one, when the measurement ends.
		}
	}()
	return nil
}

// startWebhooks begins webhooks that send no body.
func (h *hostileTotal) startWebhooks(context.Context, *load.Load) error {
	const head = "POST /hooks/" + totalPlace + "/source-0 HTTP/1.1\r\nHost: hooks\r\nX-Gitlab-Token: wrong\r\nContent-Length: 1000000\r\n\r\n"
	for range totalHooks {
		c, err := net.Dial("tcp", h.s.Hooks)
		if err != nil {
			return errors.Wrap(err, "cannot reach the address of webhooks")
		}
		h.ends = append(h.ends, func() { _ = c.Close() })
		if _, err := c.Write([]byte(head)); err != nil {
			return errors.Wrap(err, "cannot begin a webhook")
		}
	}
	return nil
}
