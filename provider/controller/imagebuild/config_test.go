package imagebuild

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
)

// TestPrivateSource has a repository that wants a password.
func TestPrivateSource(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   map[string][]byte
		want   string
		image  bool
	}{
		"Right": {
			reason: "The provider reads the repository with the Secret of the namespace.",
			data:   map[string][]byte{"username": []byte("ann"), "password": []byte("right")}, want: "Queued", image: true,
		},
		"Wrong": {
			reason: "A password that the server does not take is denied, and starts no build.",
			data:   map[string][]byte{"username": []byte("ann"), "password": []byte("wrong")}, want: "SourceDenied",
		},
		"Missing": {reason: "A Secret without a password is waited for.", data: map[string][]byte{"username": []byte("ann")}, want: "CredentialsGone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server, err := gitserver.New(t.Context(), t.TempDir(), gitserver.WithBasicAuth("ann", "right"))
			w.must(err)
			t.Cleanup(server.Close)
			w.must(server.CreateRepo(t.Context(), "private", map[string]string{"a": "1"}))
			w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "git"}, Data: tc.data}))
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source.Git.URL, b.Spec.ForProvider.Source.Git.SecretRef = server.URL("private"), ptrTo("git")
			})
			w.reconcile()
			w.expect(tc.reason, tc.want)
			if w.image() != nil != tc.image {
				t.Errorf("\n%s\nkpack is asked for an Image: %t", tc.reason, w.image() != nil)
			}
			if message := w.get().GetCondition("Ready").Message; strings.Contains(message, "wrong") {
				t.Errorf("the password is in the status: %s", message)
			}
		})
	}
}
