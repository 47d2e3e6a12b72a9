package clusterapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	kubetesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/patience"
)

const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://c1"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"t"%s}}]}`

func owner() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "web"} }

// A management is a double of the cluster that Cluster API runs in, behind the real watches.
type management struct {
	*testing.T

	client *apiserver.Server
	pool   *clusters.Pool
	woken  chan types.NamespacedName
	asked  []string
	denied string
}

func newManagement(t *testing.T) *management {
	t.Helper()
	kinds := map[string]schema.GroupVersionResource{}
	for _, gvr := range []string{
		"apiextensions.k8s.io/v1/customresourcedefinitions", "cluster.x-k8s.io/v1beta1/clusters", "cluster.x-k8s.io/v1beta2/clusters",
		"infrastructure.cluster.x-k8s.io/v1beta1/captclusters", "controlplane.cluster.x-k8s.io/v1beta1/captcontrolplanes",
		"infrastructure.cluster.x-k8s.io/v1beta1/workspacetemplateapplies", "tf.upbound.io/v1beta1/workspaces", "/v1/secrets",
	} {
		p := strings.Split(gvr, "/")
		kinds[gvr] = schema.GroupVersionResource{Group: p[0], Version: p[1], Resource: p[2]}
	}
	m := &management{T: t, woken: make(chan types.NamespacedName, 1000)}
	m.client = apiserver.New(kinds)
	m.client.PrependReactor("*", "*", func(a kubetesting.Action) (bool, runtime.Object, error) {
		if a.GetResource().Resource == m.denied {
			return true, nil, kerrors.NewForbidden(a.GetResource().GroupResource(), "", nil)
		}
		return false, nil, nil
	})
	m.pool = clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return m.client, func() {}, nil }, account.New(account.Bounds{}), func(o types.NamespacedName) { m.woken <- o })
	t.Cleanup(func() { m.pool.Forget(owner()) })
	return m
}

// Ask is an API server that answers.
func (m *management) Ask(_ context.Context, kubeconfig []byte) (readiness.Answer, time.Time) {
	m.asked = append(m.asked, string(kubeconfig))
	return readiness.Answer{Asked: true, Version: "v1.34.2"}, time.Unix(300, 0)
}

func (m *management) read(o readiness.Options) Reading {
	m.Helper()
	look := m.pool.Look(owner())
	defer look.Done()
	home, err := look.Home()
	if err != nil {
		m.Fatal(err)
	}
	return Read(m.Context(), home, m, Want{Namespace: "team-a", Name: "c1", Options: o}, time.Unix(0, 0))
}

// until a cluster's blocker is as wanted, reading each time that the watches wake us.
func (m *management) until(want string) Reading {
	m.Helper()
	for {
		r := m.read(readiness.Options{})
		b := r.Blocker()
		got := strings.TrimSpace(b.Reason + " " + b.By.String())
		if got == want {
			return r
		}
		select {
		case <-m.woken:
		case <-time.After(patience.Limit):
			m.Fatalf("want %q, got %q, and no reader is woken", want, got)
		}
	}
}

// apply an object, which is YAML.
func (m *management) apply(resource, text string) {
	m.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		m.Fatal(err)
	}
	gvr := u.GroupVersionKind().GroupVersion().WithResource(resource)
	resourceClient := m.client.Resource(gvr).Namespace(u.GetNamespace())
	_, err := resourceClient.Update(m.Context(), u, metav1.UpdateOptions{})
	if kerrors.IsNotFound(err) {
		_, err = resourceClient.Create(m.Context(), u, metav1.CreateOptions{})
	}
	if err != nil {
		m.Fatal(err)
	}
}

func (m *management) definition(plural, group, version, label string) {
	m.apply("customresourcedefinitions", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s, labels: {%[4]s}}
spec: {group: %[2]s, names: {plural: %[1]s}, versions: [{name: %[3]s, served: true}]}`, plural, group, version, label))
}

func (m *management) secret(name, cluster, data string) {
	m.apply("secrets", fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {namespace: team-a, name: %s, labels: {cluster.x-k8s.io/cluster-name: %s}}
type: cluster.x-k8s.io/secret
data: {value: %q}`, name, cluster, data))
}

const (
	refs = `infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: CAPTCluster, name: c1}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: CAPTControlPlane, name: c1}`
	oldRefs = `infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: CAPTCluster, name: c1}
  controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: CAPTControlPlane, name: c1, namespace: team-b}`
	done = `status: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}`
)

func cluster(version, spec, status string) string {
	return fmt.Sprintf("apiVersion: cluster.x-k8s.io/%s\nkind: Cluster\nmetadata: {namespace: team-a, name: c1, uid: u1}\nspec:\n  %s\n%s", version, spec, status)
}

func TestLifeOfCluster(t *testing.T) {
	m := newManagement(t)
	const label = "cluster.x-k8s.io/v1beta1: v1beta1"
	m.until("KindMissing Cluster c1")
	m.definition("clusters", "cluster.x-k8s.io", "v1", "")
	m.until("VersionUnknown Cluster c1")
	m.definition("clusters", "cluster.x-k8s.io", "v1beta2", "")
	m.until("ObjectMissing Cluster c1")
	m.apply("clusters", cluster("v1beta2", refs, ""))
	m.until("KindMissing CAPTControlPlane c1")
	m.definition("captclusters", "infrastructure.cluster.x-k8s.io", "v1beta1", "")
	m.definition("captcontrolplanes", "controlplane.cluster.x-k8s.io", "v1beta1", "")
	m.until("ContractUnknown CAPTControlPlane c1")
	m.definition("captclusters", "infrastructure.cluster.x-k8s.io", "v1beta1", label)
	m.definition("captcontrolplanes", "controlplane.cluster.x-k8s.io", "v1beta1", label)
	m.until("ObjectMissing CAPTCluster c1")
	m.apply("captclusters", "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: CAPTCluster\nmetadata: {namespace: team-a, name: c1}\nspec: {workspaceTemplateApplyName: c1-vpc}")
	m.until("Provisioning CAPTCluster c1")
	m.apply("workspacetemplateapplies", "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: WorkspaceTemplateApply\nmetadata: {namespace: team-a, name: c1-vpc}\nstatus: {applied: true, workspaceName: c1-vpc}")
	m.apply("workspaces", "apiVersion: tf.upbound.io/v1beta1\nkind: Workspace\nmetadata: {name: c1-vpc}\nstatus: {conditions: [{type: Synced, status: 'False', reason: ReconcileError, message: no quota}]}")
	if b := m.until("TerraformFailed Workspace c1-vpc").Blocker(); b.Message != "no quota" {
		t.Errorf("Terraform's error: %+v", b)
	}
	m.apply("captclusters", "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: CAPTCluster\nmetadata: {namespace: team-a, name: c1}\nstatus: {ready: true}")
	m.apply("captcontrolplanes", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: CAPTControlPlane\nmetadata: {namespace: team-a, name: c1}\nstatus: {ready: true, initialized: true, version: v1.33.0}")
	m.apply("clusters", cluster("v1beta2", refs+"\n  controlPlaneEndpoint: {host: c1, port: 443}", done))
	for r := m.until("KubeconfigMissing Secret c1-kubeconfig"); r.Version != "v1.33.0"; r = m.read(readiness.Options{}) {
		select {
		case <-m.woken:
		case <-time.After(patience.Limit):
			m.Fatalf("version %q, and no reader is woken", r.Version)
		}
	}
	if len(m.asked) > 0 {
		t.Errorf("asked %d times without a kubeconfig", len(m.asked))
	}
	m.secret("c1-kubeconfig", "c1", b64(fmt.Sprintf(kubeconfig, "")))
	for r := m.until(""); !r.Healthy(); r = m.read(readiness.Options{}) {
		<-m.woken
	}
	r := m.until("")
	want := []string{"u1", "v1.34.2", "v1beta1", "v1beta1", time.Unix(300, 0).String(), fmt.Sprintf(kubeconfig, "")}
	got := []string{r.UID, r.Version, string(r.Infrastructure), string(r.ControlPlane), r.Again.String(), m.asked[0]}
	if diff := cmp.Diff(want, got); diff != "" || !r.Healthy() {
		t.Errorf("healthy %t: -want, +got:\n%s", r.Healthy(), diff)
	}
	// Nothing more is watched than was read.
	m.pool.Forget(owner())
	if links, watches := m.pool.Size(); links+watches > 0 {
		t.Errorf("%d connections and %d watches are left", links, watches)
	}
}

// TestOldCore reads references as they were, in the Cluster's own namespace wherever they point to.
func TestOldCore(t *testing.T) {
	m := newManagement(t)
	m.definition("clusters", "cluster.x-k8s.io", "v1beta1", "")
	m.definition("captclusters", "infrastructure.cluster.x-k8s.io", "v1beta1", "cluster.x-k8s.io/v1beta1: v1beta1")
	m.definition("captcontrolplanes", "controlplane.cluster.x-k8s.io", "v1beta1", "cluster.x-k8s.io/v1beta1: v1beta1")
	m.apply("clusters", cluster("v1beta1", oldRefs, "status: {infrastructureReady: true}"))
	m.apply("captclusters", "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: CAPTCluster\nmetadata: {namespace: team-a, name: c1}\nstatus: {ready: true}")
	m.apply("captcontrolplanes", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: CAPTControlPlane\nmetadata: {namespace: team-b, name: c1}\nstatus: {ready: true}")
	m.until("ObjectMissing CAPTControlPlane c1")
	m.apply("captcontrolplanes", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: CAPTControlPlane\nmetadata: {namespace: team-a, name: c1}\nstatus: {ready: false}")
	m.until("NotInitialized CAPTControlPlane c1")
}

func TestDenied(t *testing.T) {
	cases := map[string]struct{ reason, denied, want string }{
		"Definitions": {
			reason: "Without access to CustomResourceDefinitions, the version of Cluster is unknown.",
			denied: "customresourcedefinitions", want: "AccessDenied Cluster c1",
		},
		"Clusters": {reason: "A Cluster that the provider may not read is reported as denied.", denied: "clusters", want: "AccessDenied Cluster c1"},
		"Secrets": {
			reason: "A kubeconfig Secret that the provider may not read is reported as denied.",
			denied: "secrets", want: "AccessDenied Secret c1-kubeconfig",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newManagement(t)
			m.denied = tc.denied
			m.onlyCluster()
			m.until(tc.want)
		})
	}
}

// onlyCluster puts a Cluster and the objects that it needs without references, past the denied kinds.
func (m *management) onlyCluster() {
	denied := m.denied
	m.denied = ""
	m.definition("clusters", "cluster.x-k8s.io", "v1beta2", "")
	m.apply("clusters", cluster("v1beta2", "controlPlaneEndpoint: {host: c1, port: 443}", done))
	m.denied = denied
}

func TestProgram(t *testing.T) {
	m := newManagement(t)
	m.onlyCluster()
	m.secret("c1-kubeconfig", "c1", b64(fmt.Sprintf(kubeconfig, `,"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh","interactiveMode":"Never","provideClusterInfo":false}`)))
	m.until("KubeconfigRefused Secret c1-kubeconfig")
	if r := m.read(readiness.Options{AllowExec: true}); !r.Deliverable() || len(m.asked) > 0 {
		t.Errorf("deliverable %t, asked %d times", r.Deliverable(), len(m.asked))
	}
	m.secret("c1-kubeconfig", "c1", "")
	m.until("KubeconfigEmpty Secret c1-kubeconfig")
}

// TestKubeconfigIsCached reads a kubeconfig again when it changed, or when its API server is to be asked.
func TestKubeconfigIsCached(t *testing.T) {
	cases := map[string]struct {
		reason string
		// version of the known Secret: the version that was read, another version, or an empty version.
		version func(read string) string
		at      time.Time
		asked   int
	}{
		"Same": {
			reason:  "An unchanged Secret is not read again before the API server is due.",
			version: func(read string) string { return read }, at: time.Unix(299, 0),
		},
		"Due": {reason: "An API server whose probe is due is asked again.", version: func(read string) string { return read }, at: time.Unix(300, 0), asked: 1},
		"Changed": {
			reason:  "A Secret of another version may have another kubeconfig, so the server is asked again.",
			version: func(read string) string { return read + "0" }, asked: 1,
		},
		"Unknown": {reason: "A Secret whose version is unknown is read again.", version: func(string) string { return "" }, asked: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newManagement(t)
			m.onlyCluster()
			m.secret("c1-kubeconfig", "c1", b64(fmt.Sprintf(kubeconfig, "")))
			m.until("")
			look, cached := m.pool.Look(owner()), Held{}
			defer look.Done()
			home, err := look.Home()
			if err != nil {
				t.Fatal(err)
			}
			first := Read(t.Context(), home, m, Want{Namespace: "team-a", Name: "c1", Held: &cached}, time.Unix(0, 0))
			if cached.version == "" || len(cached.kubeconfig.Data) > 0 {
				t.Fatalf("held kubeconfig: version %q, %d bytes", cached.version, len(cached.kubeconfig.Data))
			}
			m.asked = nil
			r := Read(t.Context(), home, m, Want{Namespace: "team-a", Name: "c1", Held: &cached, SecretVersion: tc.version(cached.version)}, tc.at)
			if diff := cmp.Diff(tc.asked, len(m.asked)); diff != "" {
				t.Errorf("\n%s\nhow often it was asked: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(first.KubeconfigDigest+fmt.Sprint(first.Conditions), r.KubeconfigDigest+fmt.Sprint(r.Conditions)); diff != "" {
				t.Errorf("\n%s\ndigest and conditions: -first, +then:\n%s", tc.reason, diff)
			}
		})
	}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
