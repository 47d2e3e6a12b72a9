package gitdelivery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A fault is a possible fault of a server.
type fault struct {
	reason string
	breaks func(w *world)
	want   xpv2.ConditionReason
	// mend repairs the fault. Nil if a user has to change the configuration, or if the server has no fault.
	mend func(w *world)
}

// newBranchRefused is a hook that refuses new refs.
const newBranchRefused = `case "$2" in 0000000000000000000000000000000000000000) echo "new branches are not allowed" >&2; exit 1;; esac`

func faultsOfServer() map[string]fault {
	status := func(code int) func(w *world) { return func(w *world) { w.git.Fail(repo, code) } }
	hook := func(name, script string) func(w *world) { return func(w *world) { w.hook(name, script) } }
	setting := func(key, value string) func(w *world) {
		return func(w *world) { w.must(w.git.Configure(w.Context(), repo, key, value)) }
	}
	return map[string]fault{
		"Unavailable": {
			reason: "A push to an unavailable server is tried again.",
			breaks: status(http.StatusServiceUnavailable), want: v1alpha1.ReasonUnreachable, mend: status(0),
		},
		"PreReceive": {
			reason: "A hook that refuses is a rule", want: v1alpha1.ReasonPolicyDenied,
			breaks: hook("pre-receive", `echo "only on Mondays" >&2; exit 1`), mend: hook("pre-receive", "exit 0"),
		},
		"ProtectedBranch": {
			reason: "A branch that is protected is a limit of the server.", want: v1alpha1.ReasonPolicyDenied,
			breaks: hook("update", `case "$1" in refs/heads/main) echo "GH006: Protected branch update failed" >&2; exit 1;; esac`), mend: hook("update", "exit 0"),
		},
		"Size": {
			reason: "A server with a size limit names the limit.", want: v1alpha1.ReasonTooLarge,
			breaks: setting("receive.maxInputSize", "10"), mend: setting("receive.maxInputSize", "0"),
		},
		"FullDisk": {
			reason: "A push that does not fit on the disk changes no ref.", want: v1alpha1.ReasonUnreachable,
			breaks: func(w *world) { w.git.Fill(true) }, mend: func(w *world) { w.git.Fill(false) },
		},
		"NotAtomic": {
			reason: "A server without atomic pushes gets the state first.",
			breaks: setting("receive.advertiseAtomic", "false"), want: v1alpha1.ReasonDelivered,
		},
		"Gone": {
			reason: "A missing repository may come back.", breaks: status(http.StatusNotFound), want: v1alpha1.ReasonUnreachable, mend: status(0),
		},
		"Loris": {
			reason: "A server that sends a byte now and then blocks no worker.", want: v1alpha1.ReasonUnreachable,
			breaks: func(w *world) { w.moveTo(loris(w) + "/" + repo + ".git") },
			mend:   func(w *world) { w.moveTo(w.git.URL(repo)); w.restart() },
		},
		"Expired": {
			reason: "A certificate that has expired proves nothing", want: v1alpha1.ReasonTrustFailed,
			breaks: func(w *world) {
				url, ca := expired(w)
				w.must(w.kube.Create(w.Context(), &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: "intentplane", Name: "ca"}, Data: map[string][]byte{"ca.crt": ca},
				}))
				w.configure(func(c *configv1alpha1.ProviderConfigSpec) {
					c.Git.URL = url
					c.Git.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Namespace: "intentplane", Name: "ca"}, Key: "ca.crt"}
				})
			},
			mend: func(w *world) {
				w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.URL, c.Git.CABundleSecretRef = w.git.URL(repo), nil })
			},
		},
		"HostKey": {reason: "A host key that is not the known one is not trusted.", breaks: wrongHostKey, want: v1alpha1.ReasonTrustFailed},
	}
}

// TestFaults breaks a server under a claim that was delivered before, while another repository on it goes on.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range faultsOfServer() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			w := newWorld(t)
			w.neighbour()
			w.create(w.first())
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			tc.breaks(w)
			w.reorder(2, "b")
			_ = w.try("web") // It is in the condition.
			w.expect("web", tc.want)
			if tc.want != v1alpha1.ReasonDelivered {
				w.count(1)
			}
			if message := w.get("web").GetCondition(xpv2.TypeReady).Message; strings.Contains(message, w.TempDir()) {
				w.Errorf("message: it names a path of the server: %s", message)
			}
			w.git.Fill(false)
			w.unharmed(2)
			if tc.mend == nil {
				return
			}
			tc.mend(w)
			w.pass(time.Hour)
			w.recovers("web")
			w.count(2)
		})
	}
}

// neighbour delivers to another repository of the same server.
func (w *world) neighbour() {
	w.Helper()
	w.must(w.git.CreateRepo(w.Context(), "other", map[string]string{"README.md": "hello\n"}))
	c := w.config()
	c.Name, c.Spec.Git.URL = "other", w.git.URL("other")
	w.must(w.kube.Create(w.Context(), c))
	d := delivery("neighbour", order(1, "r1"), desired(w.T, "edge2", "clusters/edge2/team-a/neighbour", "r1"))
	d.Spec.ForProvider.ClaimRef.Name, d.Spec.ProviderConfigReference.Name = "neighbour", "other"
	w.create(d)
	w.unharmed(1)
}

// unharmed fails the test unless the neighbour carries out a revision while others have trouble.
func (w *world) unharmed(revision int64) {
	w.Helper()
	says := fmt.Sprintf("r%d", revision)
	d := w.get("neighbour")
	setWish(d, order(revision, says))
	d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", "clusters/edge2/team-a/neighbour", says)}
	w.composeWish(d)
	w.must(w.kube.Update(w.Context(), d))
	w.recovers("neighbour")
	if recorded := w.ledgerOf("neighbour"); recorded.LastNumber != revision {
		w.Errorf("neighbour: want revision %d, got %v", revision, recorded)
	}
}

// recovers reconciles until a delivery is carried out: each time, who was broken before is waited for in real time, and for a moment
// only.
func (w *world) recovers(name string) {
	w.Helper()
	for began := time.Now(); time.Since(began) < inTime; {
		w.reconcile(name)
		if w.get(name).GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonDelivered {
			break
		}
	}
	w.expect(name, v1alpha1.ReasonDelivered)
}

func (w *world) moveTo(url string) {
	w.Helper()
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.URL = url })
}

// loris returns the URL of a server that never ends an answer.
func loris(w *world) string {
	w.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for _, c := range []byte(strings.Repeat("001e# service=git-upload-pack\n", 1000)) {
			select {
			case <-tick.C:
				_, _ = rw.Write([]byte{c})
				_ = http.NewResponseController(rw).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	w.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	w.pool = repository.NewPool(repository.Options{
		Now:   w.now,
		Pause: func() time.Duration { return 0 },
		Wake:  func(types.NamespacedName) {},
		// How long a worker waits.
		Patience: 200 * time.Millisecond,
	})
	return s.URL
}

// expired returns the URL of a server whose certificate was valid until yesterday, and its CA.
func expired(w *world) (url string, ca []byte) {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.AddDate(0, 0, -9), NotAfter: now.AddDate(0, 0, -1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	w.must(err)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	w.Cleanup(s.Close)
	return s.URL + "/" + repo + ".git", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func wrongHostKey(w *world) {
	w.Helper()
	user, key, err := gitserver.NewSSHKey()
	w.must(err)
	x, err := w.git.SSH(w.Context(), gitserver.SSHOptions{})
	w.must(err)
	w.Cleanup(x.Close)
	x.Authorize(user.PublicKey())
	otherKey, _, err := gitserver.NewSSHKey()
	w.must(err)
	w.must(w.kube.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "intentplane", Name: "ssh"},
		Data:       map[string][]byte{"identity": key, "known_hosts": gitserver.KnownHost(x, otherKey)},
	}))
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) {
		c.Git.URL = x.URL(repo)
		c.Git.Credentials = configv1alpha1.Credentials{
			Type: configv1alpha1.CredentialsSSH, SecretRef: &configv1alpha1.SecretReference{Namespace: "intentplane", Name: "ssh"},
		}
	})
}

// TestNewRepositories delivers for the first time to repositories that are not as most are.
func TestNewRepositories(t *testing.T) {
	t.Parallel()
	hideRefs := func(w *world) { w.must(w.git.Configure(w.Context(), repo, "receive.hideRefs", "refs/intentplane")) }
	cases := map[string]fault{
		"RefsRefused": {reason: "A branch remembers where no other refs are taken", breaks: hideRefs, want: v1alpha1.ReasonDelivered},
		"RefsAndBranchesRefused": {
			reason: "Where nothing can be remembered nothing is delivered", want: v1alpha1.ReasonStateRefused,
			breaks: func(w *world) { hideRefs(w); w.hook("update", newBranchRefused) }, mend: func(w *world) { w.hook("update", "exit 0") },
		},
		"RefsAndBranchesRefusedOneByOne": {
			reason: "A server whose pushes are not atomic says which ref it refuses.", want: v1alpha1.ReasonStateRefused,
			breaks: func(w *world) {
				hideRefs(w)
				w.hook("update", newBranchRefused)
				w.must(w.git.Configure(w.Context(), repo, "receive.advertiseAtomic", "false"))
			},
			mend: func(w *world) { w.hook("update", "exit 0") },
		},
		"ManyFiles": {reason: "However many files others have", breaks: manyFiles, want: v1alpha1.ReasonDelivered},
		"Submodule": {
			reason: "A submodule at the claim's path belongs to another user.",
			breaks: func(w *world) { w.link("160000", "main") }, want: v1alpha1.ReasonNotOwner,
		},
		"Link": {
			reason: "A link where the directory should be is not replaced.",
			breaks: func(w *world) { w.link("120000", "main:README.md") }, want: v1alpha1.ReasonNotOwner,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			w := newWorld(t)
			w.neighbour()
			tc.breaks(w)
			commits := w.commits()
			w.create(w.first())
			_ = w.try("web") // It is in the condition.
			w.expect("web", tc.want)
			delivered := 0
			if tc.want == v1alpha1.ReasonDelivered {
				delivered = 1
			}
			w.count(len(commits) - 1 + delivered)
			w.unharmed(2)
			if tc.mend == nil {
				return
			}
			tc.mend(w)
			w.pass(time.Hour)
			w.recovers("web")
		})
	}
}

// manyFiles adds a hundred thousand files of other users.
func manyFiles(w *world) {
	files := map[string]string{}
	for n := range 100_000 {
		files[fmt.Sprintf("theirs/%d/%d/%d", n%100, n/100%100, n)] = "x"
	}
	w.push(files)
}

// link replaces the Site's directory by a link or a submodule.
func (w *world) link(mode, kind string) {
	w.Helper()
	git := func(args ...string) string {
		out, err := w.git.Git(w.Context(), repo, args...)
		w.must(err)
		return strings.TrimSpace(out)
	}
	git("read-tree", "main")
	git("update-index", "--add", "--replace", "--cacheinfo", mode+","+git("rev-parse", kind)+",clusters/edge1")
	w.reset(git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Link", "-p", "main", git("write-tree")))
}
