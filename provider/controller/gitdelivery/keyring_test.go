package gitdelivery

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
)

func TestKeyring(t *testing.T) {
	config := func(url string) credentials.Config {
		return credentials.Config{Kind: policy.KindProviderConfig, Namespace: "team-a", Remote: configv1alpha1.GitRemote{
			URL:         url,
			Credentials: configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBearer, SecretRef: &configv1alpha1.SecretReference{Name: "git"}},
		}}
	}
	const here, elsewhere = "https://git.example.org/fleet.git", "https://git.example.com/fleet.git"
	cases := map[string]struct {
		reason  string
		url     string
		deleted bool
		later   time.Duration
		want    bool
	}{
		"Deleted":   {reason: "A deletion should go on with what was read before", url: here, deleted: true, later: remembered - 1, want: true},
		"Live":      {reason: "Who is not deleted should miss the Secret", url: here, later: 1},
		"Late":      {reason: "Credentials should be forgotten", url: here, deleted: true, later: remembered},
		"Elsewhere": {reason: "Credentials should go nowhere else", url: elsewhere, deleted: true, later: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "git"}, Data: map[string][]byte{"token": []byte("t")}}
			kube := kubefake.NewClientBuilder().WithObjects(secret).Build()
			k, now := &keyring{}, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			if _, err := k.read(t.Context(), kube, config(here), false, now); err != nil {
				t.Fatal(err)
			}
			if err := kube.Delete(t.Context(), secret); err != nil {
				t.Fatal(err)
			}

			got, err := k.read(t.Context(), kube, config(tc.url), tc.deleted, now.Add(tc.later))
			if !tc.want {
				var gone *credentials.GoneError
				if !errors.As(err, &gone) {
					t.Fatalf("\n%s\nread(...): want a GoneError, got %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nread(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(credentials.Credentials{Auth: git.Bearer{Token: "t"}}, got); diff != "" {
				t.Errorf("\n%s\nread(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
