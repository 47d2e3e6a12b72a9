package plugin

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

// TestStatusAndWhy reads a deployment that waits, as an administrator, and as a user with the role edit in its namespace.
func TestStatusAndWhy(t *testing.T) {
	s := newPluginStage(t, "plugin-why", samples.WrongPassword())
	s.bindClusterRole("ann", "edit")
	out, code := s.runPlugin("status", "shop")
	s.expectOutput(out, "Delivering", "├─ delivery fleet   AuthFailed", "site edge1")
	if code != 0 {
		t.Errorf("status: exit code %d", code)
	}
	out, _ = s.runPlugin("status", "--stuck")
	s.expectOutput(out, "shop  Delivering", "AuthFailed", "platform team")
	out, _ = s.runPlugin("why", "shop")
	s.expectOutput(out, "Cause:      GitDelivery shop-fleet: AuthFailed", "Who acts:   the platform team")
	out = s.runUntilWithout("gitdeliveries", "why", "shop", "--as", "ann")
	s.expectOutput(out, "Cause:      GitDelivery shop-fleet: AuthFailed", "Who acts:   the platform team", "Not read:   leases.coordination.k8s.io: the user may not read them")
}

// TestApplication reads an Application whose pods crash at one Site, as an administrator, and as a user with the role edit in its namespace.
func TestApplication(t *testing.T) {
	s := newPluginStage(t, "plugin-application", samples.Crashing())
	s.bindClusterRole("ann", "edit")
	out, _ := s.runPlugin("status", "shop")
	s.expectOutput(out, "Application intentplane.dev", "Degraded", "image shop:2.0  serving 1/2", "└─ site edge2       Live     Flux 0/2")
	out, _ = s.runPlugin("status")
	s.expectOutput(out, "shop  Degraded  7    7     1/2")
	s.wantLacking(out, "Succeeded")
	out = s.runUntilWithout("sitehealths", "why", "shop", "--as", "ann")
	s.expectOutput(out, "Cause:      Site edge2: CrashLoopBackOff", "Who acts:   the author", "└─ SiteHealth shop")
	if out, code := s.runPlugin("wait", "shop", "--timeout=3s"); code != 4 {
		t.Errorf("wait for an Application that crashes: exit code %d:\n%s", code, out)
	}
	s.publishSample(samples.NewApplication(samples.Verified()))
	if out, code := s.runPlugin("wait", "shop"); code != 0 {
		t.Errorf("wait for an Application that runs: exit code %d:\n%s", code, out)
	}
	out, _ = s.runPlugin("why", "shop")
	s.expectOutput(out, "Nothing is in the way.")
}

// TestBundle reads a Bundle one of whose packages is blocked, as an administrator, and as a user with the role edit in its namespace.
func TestBundle(t *testing.T) {
	s := newPluginStage(t, "plugin-bundle", samples.InProgress(samples.WrongPassword()))
	s.bindClusterRole("ann", "edit")
	out, _ := s.runPlugin("status", "platform")
	s.expectOutput(out, "Bundle intentplane.dev", "version 1.4.0  packages 1/2", "└─ package shop     deploying")
	out, _ = s.runPlugin("status")
	s.expectOutput(out, "platform  Deploying", "1/2", "shop      Delivering")
	out = s.runUntilWithout("bundlestates", "why", "platform", "--as", "ann")
	s.expectOutput(out, "Cause:      GitDelivery shop-fleet: AuthFailed", "Who acts:   the platform team", "└─ package shop: InProgress")
	if out, code := s.runPlugin("wait", "platform", "--timeout=3s"); code != 4 {
		t.Errorf("wait for a Bundle that is deployed: exit code %d:\n%s", code, out)
	}
	s.publishSample(samples.NewBundle(samples.Verified()))
	if out, code := s.runPlugin("wait", "platform"); code != 0 {
		t.Errorf("wait for a Bundle that runs: exit code %d:\n%s", code, out)
	}
	out, _ = s.runPlugin("why", "platform")
	s.expectOutput(out, "Nothing is in the way.")
}

// TestRefresh asks for a look as a user with the role edit, and ends when each delivery has answered. The test plays function and provider.
func TestRefresh(t *testing.T) {
	s := newPluginStage(t, "plugin-refresh", samples.WrongPassword())
	s.bindClusterRole("ann", "edit")
	s.expectOutput(s.runUntilWithout("gitdeliveries", "why", "shop", "--as", "ann"), "AuthFailed")
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	c := s.pluginCommand(ctx, "refresh", "shop", "--as", "ann", "--timeout="+patience.Limit.String())
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	s.requireNoError(c.Start())
	d := shopDeployment(s.namespace)
	for d.GetAnnotations()["crossplane.io/reconcile-requested-at"] == "" && ctx.Err() == nil {
		s.requireNoError(cp.Client.Get(ctx, client.ObjectKeyFromObject(d), d))
	}
	// An earlier report does not answer the request.
	s.publishSample(samples.Verified())
	for _, kind := range []string{"GitDelivery", "SiteSync"} {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
		l.SetKind(kind + "List")
		s.requireNoError(cp.Client.List(ctx, l, client.InNamespace(s.namespace)))
		for i := range l.Items {
			s.requireNoError(unstructured.SetNestedField(l.Items[i].Object, d.GetAnnotations()["crossplane.io/reconcile-requested-at"], "status", "lastHandledReconcileAt"))
			s.requireNoError(cp.Client.Status().Update(ctx, &l.Items[i]))
		}
	}
	s.requireNoError(c.Wait())
	s.expectOutput(out.String(), "GitDelivery shop-fleet: Delivered", "SiteSync shop", "IntentDeployment plugin-refresh/shop: Succeeded")
	if out, code := s.runPlugin("refresh", "shop", "--timeout=2s"); code != 4 {
		t.Errorf("refresh where no provider runs: exit code %d:\n%s", code, out)
	}
}

// TestOffers shows the catalog of a namespace to a user who may read the catalog, and the catalog in use to a user who may
// not.
func TestOffers(t *testing.T) {
	s := newPluginStage(t, "plugin-offers", samples.Verified())
	s.bindClusterRole("ann", "edit")
	root, err := toolbox.Root()
	s.requireNoError(err)
	for _, file := range []string{"trial/10-sites.yaml", "quickstart/20-blueprint.yaml"} {
		s.requireNoError(cp.Apply(t.Context(), filepath.Join(root, "examples", filepath.FromSlash(file))))
	}
	s.requireNoError(cp.ApplyYAML(t.Context(), []byte(`{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: offers}, spec: {allowedNamespaces: [plugin-offers],
		cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: clusters/offers}, parameters: {plmn: "00101"}}}`)))
	out, _ := s.runPlugin("sites")
	s.expectOutput(out, "offers  None", "clusters/offers", "plmn=00101")
	s.wantLacking(out, "edge1")
	out, _ = s.runPlugin("blueprints", "web")
	s.expectOutput(out, "web   1.0.0    stable", "greeting   string  Hello", "replicas  1")
	out = s.runUntilWithout("intentdeployments", "sites", "--as", "ann")
	s.expectOutput(out, "edge1", "edge2", "Not read: sites.catalog.intentplane.dev: the user may not read them")
	s.wantLacking(out, "\noffers") // The namespace is called after it.
}

// TestWatch shows each change as a line, where the output is not a terminal.
func TestWatch(t *testing.T) {
	s := newPluginStage(t, "plugin-watch", samples.Canary(false))
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	c := s.pluginCommand(ctx, "status", "shop", "--watch")
	out, err := c.StdoutPipe()
	s.requireNoError(err)
	s.requireNoError(c.Start())
	scanner := bufio.NewScanner(out)
	for _, next := range []struct {
		shown *samples.Sample
		says  string
	}{{samples.Canary(false), "Delivering revision 7 sites 2/2 step 2/4 20%"}, {samples.RollingBack(), "RollingBack revision 7"}, {samples.RolledBack(), "Succeeded/RolledBack revision 7"}} {
		s.publishSample(next.shown)
		for !strings.Contains(scanner.Text(), next.says) {
			if !scanner.Scan() {
				t.Fatalf("the plugin ended before it said %q: %v", next.says, scanner.Err())
			}
		}
	}
	cancel()
	_ = c.Wait()
}

// TestWait ends with each of its exit codes.
func TestWait(t *testing.T) {
	cases := map[string]struct {
		reason string
		begins *samples.Sample
		then   *samples.Sample
		edit   bool
		args   []string
		want   int
	}{
		"reached":    {reason: "A revision that runs is reached.", begins: samples.WrongPassword(), then: samples.Verified()},
		"failed":     {reason: "A wait for an object that needs a person has failed.", begins: samples.WrongPassword(), then: samples.Invalid(), want: 1},
		"rolledback": {reason: "A rollback has another exit code than a failure.", begins: samples.RollingBack(), then: samples.RolledBack(), want: 3},
		"timedout":   {reason: "A timeout has another exit code than a failure.", begins: samples.WrongPassword(), args: []string{"--timeout=3s"}, want: 4},
		"superseded": {reason: "Another spec supersedes the awaited spec.", begins: samples.WrongPassword(), edit: true, args: []string{"--for=live"}, want: 5},
		"live":       {reason: "Live Sites are reached before the verdict.", begins: samples.WrongPassword(), then: samples.New(), args: []string{"--for=live"}},
		"step": {
			reason: "A step of a canary is reached while it pauses.",
			begins: samples.WrongPassword(), then: samples.Canary(false), args: []string{"--for=step=2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newPluginStage(t, "plugin-wait-"+name, tc.begins)
			ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
			defer cancel()
			c := s.pluginCommand(ctx, slices.Concat([]string{"wait", "shop"}, tc.args)...)
			out, err := c.StdoutPipe()
			s.requireNoError(err)
			s.requireNoError(c.Start())
			// Its first line reports that it has seen the existing objects.
			scanner := bufio.NewScanner(out)
			scanner.Scan()
			if tc.then != nil {
				s.publishSample(tc.then)
			}
			if tc.edit {
				s.requireNoError(cp.Client.Patch(ctx, shopDeployment(s.namespace), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":true}}`))))
			}
			for scanner.Scan() {
				t.Log(scanner.Text())
			}
			_ = c.Wait()
			if got := c.ProcessState.ExitCode(); got != tc.want {
				t.Errorf("\n%s\nwait %q: exit code %d, want %d", tc.reason, tc.args, got, tc.want)
			}
		})
	}
}
