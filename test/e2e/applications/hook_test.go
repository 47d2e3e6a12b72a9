package applications

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

const hookToken = "a token of some length"

// hookAddress is where the provider receives webhooks.
var hookAddress string

// openHooks lets the provider receive webhooks.
func openHooks(o *controlplane.Options) {
	free, err := controlplane.FreePorts(1)
	if err != nil {
		return // Without an address the story fails.
	}
	hookAddress = fmt.Sprintf("127.0.0.1:%d", free[0])
	o.Provider.Args = append(o.Provider.Args, "--source-webhook-address="+hookAddress)
}

// giveWebhook lets the Application have a webhook.
func (s *sourceStage) giveWebhook() {
	s.T.Helper()
	s.must(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "hook"}, StringData: map[string]string{"token": hookToken}}))
	s.Set(s.app, map[string]any{"secretRef": map[string]any{"name": "hook"}}, "spec", "source", "webhook")
}

// hook posts a body, signed as Gitea does with a token, and returns the status of the answer.
func (s *sourceStage) hook(token string, body []byte) int {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, "http://"+hookAddress+"/hooks/"+s.Namespace+"/shop", bytes.NewReader(body))
	s.must(err)
	if token != "" {
		sum := hmac.New(sha256.New, []byte(token))
		_, _ = sum.Write(body)
		req.Header.Set("X-Gitea-Signature", hex.EncodeToString(sum.Sum(nil)))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0 // The server closed the connection before all was sent.
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// commit adds a commit to the source, and asks for no look at it.
func (s *sourceStage) commit(content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.repository, "main", map[string]string{"main.txt": content}, "Version "+content)
	s.must(err)
	return id
}

// TestHook has commits that the provider learns of by a webhook, and by a request to reconcile the Application; and hooks that are not signed, sent again, and
// too large.
func TestHook(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.giveWebhook()
	s.Apply(s.app)
	s.runs(s.first)
	second, body := s.commit("2"), []byte(`{"ref":"refs/heads/main"}`)
	if unsigned, forged := s.hook("", body), s.hook("another token of that length", body); unsigned != 404 || forged != 404 {
		t.Errorf("a hook that is not signed is answered with %d, one with another token with %d", unsigned, forged)
	}
	if got := s.hook(hookToken, body); got != 202 {
		t.Fatalf("a signed hook is answered with %d", got)
	}
	s.wantImage(s.runs(second))
	builds, answers := len(s.builds()), map[int]int{}
	for range 100 {
		answers[s.hook(hookToken, body)]++
	}
	if answers[202] == 0 || answers[202]+answers[429] != 100 {
		t.Errorf("hooks that are sent again are answered with %v", answers)
	}
	if got := s.hook(hookToken, make([]byte, 100<<20)); got != 413 && got != 0 {
		t.Errorf("a hook of 100 MB is answered with %d", got)
	}
	third := s.commit("3")
	s.Patch(s.app, `{"metadata":{"annotations":{"crossplane.io/reconcile-requested-at":"now"}}}`)
	s.Await(s.imageBuild(), "the look that was asked for", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "lookNow") == "now" && scene.Field(u, "status", "atProvider", "wanted", "commit") == third
	})
	s.runs(third)
	if got := scene.Number(s.Now(s.app), "status", "deployment", "revision"); got != 3 || len(s.builds()) != builds+1 {
		t.Errorf("revision %d after %d Builds: a hook that is sent again builds nothing", got, len(s.builds()))
	}
}
