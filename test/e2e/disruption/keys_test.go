package disruption

import (
	"maps"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

// TestKeysStaySecret causes all failures with a key in reach, and then searches it in all readable places.
func TestKeysStaySecret(t *testing.T) {
	t.Parallel()
	const passphrase = "canary-4b1e77"
	s := scene.New(t, cp, "edge1")
	user, signing := newSealedKey(t, passphrase), newSealedKey(t, passphrase)
	srv := guardServer(s, "unused")
	x, err := srv.SSH(t.Context(), gitserver.SSHOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	data := map[string]any{"identity": user.pem, "password": passphrase + "-wrong", "known_hosts": "git.example.org " + string(ssh.MarshalAuthorizedKey(user.public))}
	apply := func(change map[string]any) {
		maps.Copy(data, change)
		s.Apply(s.Set(s.BasicAuthSecret(""), data, "stringData"))
	}
	apply(nil)
	keys := s.Set(s.BasicAuthSecret(""), map[string]any{"identity": signing.pem, "passphrase": passphrase}, "stringData")
	keys.SetName("signing")
	s.Apply(keys)
	config := s.Set(s.ProviderConfig(), x.URL(s.Namespace), "spec", "git", "url")
	config = s.Set(config, map[string]any{"type": "SSH", "secretRef": map[string]any{"name": credentials}}, "spec", "git", "credentials")
	s.Apply(s.Set(config, map[string]any{"format": "SSH", "secretRef": map[string]any{"name": "signing"}}, "spec", "git", "signing"))

	claim := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
	s.Apply(claim)
	failingClaim(s, deliveryv1alpha1.ReasonInvalid)
	apply(map[string]any{"password": passphrase})
	failingClaim(s, deliveryv1alpha1.ReasonTrustFailed)
	apply(map[string]any{"known_hosts": string(x.KnownHosts())})
	failingClaim(s, deliveryv1alpha1.ReasonAuthFailed)
	x.Authorize(user.public)
	s.Succeed(claim)

	log, err := srv.Git(t.Context(), s.Namespace, "log", "--all", "-p", "--pretty=raw")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log, "BEGIN SSH SIGNATURE") {
		t.Error("the commits are not signed")
	}
	publicTexts := readablePublicly(s)
	publicTexts["the repository"] = log
	for name, text := range publicTexts {
		for _, canary := range append(append(user.privateKeyLines(), signing.privateKeyLines()...), passphrase) {
			if strings.Contains(text, canary) {
				t.Errorf("a key or a passphrase is in %s", name)
			}
		}
	}
}
