package causes

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/wire"
)

const (
	kubeconfig    = "edge1-kubeconfig"
	siteDirectory = "clusters/edge1"
)

// A remoteStage has its Site in another cluster, to which real Flux applies the repository.
type remoteStage struct {
	*stage

	edge *kubernetes.Cluster
}

// newRemoteStage makes a Site whose Kustomization, named after the namespace of the story, reads the directory of the Site.
func newRemoteStage(t *testing.T, describe shape) *remoteStage {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := &remoteStage{stage: newCauseStage(t, describe), edge: k}
	s.putKubeconfig(s.adminKubeconfig())
	site := s.Set(s.NewSite("edge1"), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": kubeconfig}}, "spec", "cluster")
	s.selectFluxEngine(site)
	s.Must(k.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	s.Must(k.ApplyYAML(t.Context(), load.Kustomization(s.Namespace, s.Git.URL(s.Namespace), siteDirectory)))
	return s
}

// selectFluxEngine selects a Kustomization, named after the namespace of the story, for the directory of a Site. The Kustomization is not created.
func (s *stage) selectFluxEngine(site *unstructured.Unstructured) {
	s.T.Helper()
	s.Apply(s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": "{claimNamespace}",
	}}, "spec", "engine"))
	_, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", map[string]string{siteDirectory + "/placeholder": "An empty directory is none.\n"}, "Make the directory")
	s.Must(err)
}

func (s *remoteStage) adminKubeconfig() []byte {
	s.T.Helper()
	b, err := os.ReadFile(s.edge.Kubeconfig)
	s.Must(err)
	return b
}

// putKubeconfig writes the kubeconfig of the Site.
func (s *remoteStage) putKubeconfig(content []byte) {
	s.T.Helper()
	s.Apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": s.Namespace, "name": kubeconfig},
		"stringData": map[string]any{"value": string(content)},
	}})
}

// createAccount makes a service account in the other cluster, without rights.
func (s *remoteStage) createAccount() *corev1.ServiceAccount {
	s.T.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "intentplane"}}
	s.Must(s.edge.Client.Create(s.T.Context(), account))
	return account
}

// kubeconfigOf a service account has a token of it.
func (s *remoteStage) kubeconfigOf(account *corev1.ServiceAccount) []byte {
	s.T.Helper()
	return s.kubeconfigWith(s.requestToken(account))
}

func (s *remoteStage) requestToken(account *corev1.ServiceAccount) string {
	s.T.Helper()
	token := &authenticationv1.TokenRequest{}
	s.Must(s.edge.Client.SubResource("token").Create(s.T.Context(), account, token))
	return token.Status.Token
}

func (s *remoteStage) kubeconfigWith(token string) []byte {
	s.T.Helper()
	config, err := clientcmd.Load(s.adminKubeconfig())
	s.Must(err)
	for _, credentials := range config.AuthInfos {
		credentials.Token = token
	}
	out, err := clientcmd.Write(*config)
	s.Must(err)
	return out
}

// expiredKubeconfig has a token that expired a minute ago. The cluster takes the same token with a later expiry.
func (s *remoteStage) expiredKubeconfig() []byte {
	s.T.Helper()
	account := s.createAccount()
	s.allowEngine(account)
	now, token := time.Now(), s.requestToken(account)
	good, err := s.edge.SetExpiry(token, now.Add(time.Hour))
	s.Must(err)
	s.Must(s.reviewToken(good))
	expired, err := s.edge.SetExpiry(token, now.Add(-time.Minute))
	s.Must(err)
	if err := s.reviewToken(expired); !kerrors.IsUnauthorized(err) {
		s.T.Fatalf("the cluster takes a token that has expired: %v", err)
	}
	return s.kubeconfigWith(expired)
}

// reviewToken returns an error if the cluster does not take a token.
func (s *remoteStage) reviewToken(token string) error {
	config := rest.AnonymousClientConfig(s.edge.Config)
	config.BearerToken = token
	c, err := client.New(config, client.Options{})
	s.Must(err)
	return c.Create(s.T.Context(), &authenticationv1.SelfSubjectReview{})
}

// allowEngine grants a service account to read and annotate the objects of Flux.
func (s *remoteStage) allowEngine(account *corev1.ServiceAccount) {
	s.T.Helper()
	name := metav1.ObjectMeta{Name: s.Namespace}
	s.Must(s.edge.Client.Create(s.T.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "patch"},
	}}}))
	s.Must(s.edge.Client.Create(s.T.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.Namespace},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}))
}

// patchEngine changes the Kustomization of the Site.
func (s *remoteStage) patchEngine(change string) {
	s.T.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": map[string]any{"namespace": kubernetes.FluxNamespace, "name": s.Namespace},
	}}
	s.Must(s.edge.Client.Patch(s.T.Context(), o, client.RawPatch("application/merge-patch+json", []byte(change))))
}

// cutSiteConnection routes the connection to the Site through a wire, and cuts it.
func (s *remoteStage) cutSiteConnection() *wire.Wire {
	s.T.Helper()
	host, err := url.Parse(s.edge.Config.Host)
	s.Must(err)
	w, err := wire.New(s.T.Context(), host.Host)
	s.Must(err)
	s.T.Cleanup(w.Close)
	s.Must(w.Cut())
	s.putKubeconfig([]byte(strings.ReplaceAll(string(s.adminKubeconfig()), host.Host, w.Address())))
	return w
}

// A remoteStory is a story of a Site in another cluster.
type remoteStory struct {
	reason string
	breaks func(s *remoteStage) (repair func())
	want   answer
}

// engineStories are of the engine of a Site.
func engineStories() map[string]remoteStory {
	return map[string]remoteStory{
		"EngineSuspended": {
			reason: "An engine that is suspended is the cause until the owner of the cluster resumes it.",
			breaks: func(s *remoteStage) func() {
				s.patchEngine(`{"spec":{"suspend":true}}`)
				return func() { s.patchEngine(`{"spec":{"suspend":false}}`) }
			},
			want: answer{object: "Kustomization at Site ", reason: "Suspended", actor: advice.ClusterOwner, do: "Resume the engine's object"},
		},
		"EngineReadsAnotherPath": {
			reason: "An engine that reads another path is the cause until the owner of the cluster corrects the path.",
			breaks: func(s *remoteStage) func() {
				s.patchEngine(`{"spec":{"path":"./clusters/edge2"}}`)
				return func() { s.patchEngine(`{"spec":{"path":"./` + siteDirectory + `"}}`) }
			},
			want: answer{object: "Kustomization at Site ", reason: "WrongSource", actor: advice.ClusterOwner, do: "read the branch and directory"},
		},
	}
}

// clusterStories are of the way to the cluster of a Site.
func clusterStories() map[string]remoteStory {
	return map[string]remoteStory{
		"ClusterUnreachable": {
			reason: "A cluster that does not answer is the cause until its owner starts it.",
			breaks: func(s *remoteStage) func() {
				w := s.cutSiteConnection()
				return func() { s.Must(w.Connect(s.T.Context())) }
			},
			want: answer{object: "Site ", reason: "ClusterUnreachable", actor: advice.ClusterOwner, do: "check the cluster's API server"},
		},
		"KubeconfigExpired": {
			reason: "A kubeconfig whose credentials have expired is the cause until they are renewed.",
			breaks: func(s *remoteStage) func() {
				s.putKubeconfig(s.expiredKubeconfig())
				return func() { s.putKubeconfig(s.adminKubeconfig()) }
			},
			want: answer{object: "Site ", reason: "KubeconfigDenied", actor: advice.ClusterOwner, do: "Renew the credentials in the kubeconfig"},
		},
		"RightMissing": {
			reason: "A right at the Site that is missing is the cause until the owner of the cluster gives it.",
			breaks: func(s *remoteStage) func() {
				account := s.createAccount()
				s.putKubeconfig(s.kubeconfigOf(account))
				return func() { s.allowEngine(account) }
			},
			want: answer{object: "Site ", reason: "AccessDenied", actor: advice.ClusterOwner, do: "list and watch the engine's kinds"},
		},
	}
}

// playRemoteStories plays stories side by side, each with a deployment of both shapes.
func playRemoteStories(t *testing.T, stories map[string]remoteStory) {
	t.Helper()
	for name, scenario := range stories {
		for shapeName, describe := range deploymentShapes() {
			t.Run(name+shapeName, func(t *testing.T) {
				t.Parallel()
				s := newRemoteStage(t, describe)
				s.breakAndRepair(story{reason: scenario.reason, want: scenario.want, breaks: func(*stage) func() {
					repair := scenario.breaks(s)
					s.Apply(s.deployment)
					return repair
				}})
			})
		}
	}
}
