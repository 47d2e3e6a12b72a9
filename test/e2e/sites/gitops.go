package sites

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/e2e/sites/argocd"
	"github.com/intentplane/intentplane/test/gitops"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// The names in examples/gitops, as they are.
const (
	team       = "team-a"
	claimsRepo = "gitops-claims"
	fleetRepo  = "gitops-fleet"
)

// A workshop is the layout of examples/gitops: a repository of claims, one of the fleet, and the control plane between them. Only the URLs
// of the repositories are ours.
type workshop struct {
	*stage
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	if err := hub(); err != nil {
		t.Fatal(err)
	}
	w := &workshop{stage: &stage{Scene: scene.New(t, cp), edge: k}}
	w.Must(w.Git.CreateRepo(t.Context(), claimsRepo, w.exampleClaimFiles()))
	w.Must(w.Git.CreateRepo(t.Context(), fleetRepo, map[string]string{"README.md": "Not ours.\n"}))
	for _, file := range []string{"quickstart/00-namespace.yaml", "quickstart/20-blueprint.yaml", "quickstart/30-config.yaml"} {
		w.Must(w.ApplyYAML(t.Context(), w.exampleFile(file)))
	}
	return w
}

// exampleFile is a file of the examples, with our URLs.
func (w *workshop) exampleFile(file string) []byte {
	w.T.Helper()
	b := w.ProjectFile("examples", file)
	urls := strings.NewReplacer("https://git.example.org/claims.git", w.Git.URL(claimsRepo), "https://git.example.org/fleet.git", w.Git.URL(fleetRepo))
	return []byte(urls.Replace(string(b)))
}

// exampleClaimFiles are the files of the repository of claims.
func (w *workshop) exampleClaimFiles() map[string]string {
	w.T.Helper()
	out := map[string]string{}
	for _, name := range []string{"bank.yaml", "shop.yaml"} {
		out[name] = string(w.exampleFile("gitops/claims/" + name))
	}
	return out
}

func (w *workshop) claimOfTeam(apiVersion, name string) *unstructured.Unstructured {
	o := newFluxObject(apiVersion, "IntentDeployment", name)
	o.SetNamespace(team)
	return o
}

// accountKubeconfig is a kubeconfig for the account that the example makes in the cluster of the Site.
func (w *workshop) accountKubeconfig() []byte {
	w.T.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: "intentplane"}}
	token := &authenticationv1.TokenRequest{}
	w.Must(w.edge.Client.SubResource("token").Create(w.T.Context(), sa, token))
	ca := w.edge.Config.CAData
	if len(ca) == 0 {
		var err error
		ca, err = os.ReadFile(w.edge.Config.CAFile)
		w.Must(err)
	}
	b, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"edge1": {Server: w.edge.Config.Host, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"intentplane": {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"edge1": {Cluster: "edge1", AuthInfo: "intentplane"}},
		CurrentContext: "edge1",
	})
	w.Must(err)
	return b
}

// pushClaimChanges changes the repository of claims, and notifies Flux, as a webhook does.
func (w *workshop) pushClaimChanges(changes map[string]string) (commit string) {
	w.T.Helper()
	commit, err := w.Git.Commit(w.T.Context(), claimsRepo, "main", changes, "A change by the team")
	w.Must(err)
	w.awaitPushed(commit)
	return commit
}

func (w *workshop) awaitPushed(commit string) {
	w.T.Helper()
	w.Patch(newFluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", "claims"), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, requestedAt, commit))
}

// awaitFluxResult waits until Flux on the control plane judged a commit of the claims, with a status and words.
func (w *workshop) awaitFluxResult(commit, status, words string) {
	w.T.Helper()
	w.Await(newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "claims"), "Ready "+status+" at "+commit, func(u *unstructured.Unstructured) bool {
		ready := scene.Condition(u, "Ready")
		return scene.Field(u, "status", "lastAttemptedRevision") == "main@sha1:"+commit && string(ready.Status) == status && strings.Contains(ready.Message, words)
	})
}

// awaitFluxEvent waits until Flux has reported an event about the Kustomization of the claims, with words in its message.
func (w *workshop) awaitFluxEvent(reason, words string) {
	w.T.Helper()
	w.Until("an event "+reason+" of Flux", patience.Limit, func() bool {
		l := &corev1.EventList{}
		if err := w.Client.List(w.T.Context(), l, client.InNamespace(kubernetes.FluxNamespace)); err != nil {
			return false
		}
		return slices.ContainsFunc(l.Items, func(e corev1.Event) bool {
			return e.InvolvedObject.Kind == "Kustomization" && e.InvolvedObject.Name == "claims" && e.Reason == reason && strings.Contains(e.Message, words)
		})
	})
}

// replicasRunningAt returns the running replicas at the Site, of shop and bank.
func (w *workshop) replicasRunningAt() [2]int32 {
	w.T.Helper()
	return [2]int32{w.replicasInCluster(team, "shop"), w.replicasInCluster(team, "bank")}
}

func (w *workshop) wantSiteReplicas(reason string, shop, bank int32) {
	w.T.Helper()
	w.WantEqual(reason+": replicas of shop and bank at the Site", [2]int32{shop, bank}, w.replicasRunningAt())
}

func (w *workshop) wantArgoCDHealth(o *unstructured.Unstructured, want string) {
	w.T.Helper()
	status, message, err := gitops.ArgoCDHealth(w.Now(o))
	w.Must(err)
	if status != want {
		w.T.Errorf("Argo CD's health of %s: want %s, got %s: %s", o.GetName(), want, status, message)
	}
}

// claimFileSaying is the file of a claim with another text than the example.
func (w *workshop) claimFileSaying(file, words, instead string) map[string]string {
	w.T.Helper()
	text := w.exampleClaimFiles()[file]
	if strings.Count(text, words) != 1 {
		w.T.Fatalf("%s does not hold %q once", file, words)
	}
	return map[string]string{file: strings.Replace(text, words, instead, 1)}
}

// awaitClaimsLeft waits until the repository holds the directories of so many claims: a claim may be gone before its delivery cleaned up.
func (w *workshop) awaitClaimsLeft(want int) {
	w.T.Helper()
	w.Until("directories are removed", patience.Limit, func() bool {
		files, err := w.Git.Files(w.T.Context(), fleetRepo, "main")
		w.Must(err)
		dirs := map[string]bool{}
		for name := range files {
			if rest, ok := strings.CutPrefix(name, "clusters/edge1/team-a/"); ok {
				dirs[strings.Split(rest, "/")[0]] = true
			}
		}
		return len(dirs) == want
	})
}

// refreshSiteFlux makes the Site's Flux look, which no controller does for a deleted claim, and waits for the replicas after that.
func (w *workshop) refreshSiteFlux(t *testing.T, description string, shop, bank int32) {
	t.Helper()
	log, err := w.Git.Log(t.Context(), fleetRepo, "main")
	w.Must(err)
	w.patchAtSite(newFluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", "fleet"), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, requestedAt, log[0].ID))
	w.Until(description, patience.Limit, func() bool { return w.replicasRunningAt() == [2]int32{shop, bank} })
}

// deliverToArgoCD delivers to a Site of Argo CD, whose controller is simulated.
func (w *workshop) deliverToArgoCD() {
	w.T.Helper()
	argocd.Install(w.Scene)
	w.Must(w.Client.Create(w.T.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "argocd"}}))
	for _, file := range []string{"health.yaml", "control-plane/sites.yaml", "control-plane/edge2.yaml", "control-plane/claims.yaml"} {
		w.Until(file+" applies", patience.Limit, func() bool { return w.ApplyYAML(w.T.Context(), w.exampleFile("gitops/argocd/"+file)) == nil })
	}
	car := w.claimOfTeam("claims.intentplane.dev/v1alpha1", "car")
	w.Set(car, `{"service": "car", "sites": ["edge2"]}`, "spec", "intent")
	w.Apply(car)
	app := newFluxObject("argoproj.io/v1alpha1", "Application", "edge2")
	app.SetNamespace("argocd")
	argocd.AwaitRefresh(w.Scene, app)
	w.wantArgoCDHealth(car, "Progressing")
	defer argocd.Controller{Scene: w.Scene, Repository: fleetRepo, Directory: "clusters/edge2/"}.Start(app)()
	w.Await(car, "Succeeded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
	w.wantArgoCDHealth(car, "Healthy")
	w.Delete(car)
	w.Gone(car)
}
