package applications

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/sources"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// Tokens of webhooks.
const (
	hookToken  = "a token of some length"
	otherToken = "another token of that length"
)

// hookAddress is where the provider receives webhooks.
var hookAddress string

// enableWebhooks lets the provider receive webhooks.
func enableWebhooks(o *controlplane.Options) {
	free, err := port.Free(1)
	if err != nil {
		return // Without an address the story fails.
	}
	hookAddress = fmt.Sprintf("127.0.0.1:%d", free[0])
	o.Provider.Args = append(o.Provider.Args, "--source-webhook-address="+hookAddress)
}

// giveWebhook lets the Application have a webhook with a token.
func (s *sourceStage) giveWebhook(token string) {
	s.T.Helper()
	s.createSecret("hook", map[string]string{"token": token})
	s.Set(s.app, map[string]any{"secretRef": map[string]any{"name": "hook"}}, "spec", "source", "webhook")
}

// createSecret creates a Secret in the namespace of the Application.
func (s *stage) createSecret(name string, values map[string]string) {
	s.T.Helper()
	s.requireNoError(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, StringData: values}))
}

// postWebhook posts a body, signed as Gitea does with a token, and returns the status of the answer.
func (s *sourceStage) postWebhook(token string, body []byte) int {
	s.T.Helper()
	return s.postWebhookTo(hookAddress, token, body)
}

// postWebhookTo posts a body to the replica of the provider at an address.
func (s *sourceStage) postWebhookTo(address, token string, body []byte) int {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, "http://"+address+"/hooks/"+s.Namespace+"/shop", bytes.NewReader(body))
	s.requireNoError(err)
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

// addSourceCommit adds a commit to the source, and asks for no look at it.
func (s *sourceStage) addSourceCommit(content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.repository, "main", map[string]string{"main.txt": content}, "Version "+content)
	s.requireNoError(err)
	return id
}

// startReplicas starts the provider again with a lease, and beside it another replica, which waits for the lease. It returns where the other one receives
// webhooks. After the test the provider runs alone.
func (s *sourceStage) startReplicas() string {
	s.T.Helper()
	free, err := port.Free(1)
	s.requireNoError(err)
	address, lease := fmt.Sprintf("127.0.0.1:%d", free[0]), []string{"--leader-election", "--leader-lease=15s"}
	cp.KillProvider()
	s.T.Cleanup(func() {
		cp.KillStandby()
		cp.KillProvider()
		s.requireNoError(cp.StartProvider(context.WithoutCancel(s.T.Context()), controlplane.Program{}))
	})
	s.requireNoError(cp.StartProvider(s.T.Context(), controlplane.Program{Args: lease}))
	s.Until("the provider leads", patience.Limit, func() bool { return s.readLeaseHolder() != "" })
	s.requireNoError(cp.StartStandby(s.T.Context(), controlplane.Program{Args: append(lease, "--source-webhook-address="+address)}))
	return address
}

// readLeaseHolder returns the identity of the replica of the provider that holds the lease, or "".
func (s *sourceStage) readLeaseHolder() string {
	s.T.Helper()
	l := &coordinationv1.Lease{}
	err := cp.Client.Get(s.T.Context(), client.ObjectKey{Namespace: controlplane.Namespace, Name: "intentplane-provider"}, l)
	s.requireNoError(client.IgnoreNotFound(err))
	return ptr.Deref(l.Spec.HolderIdentity, "")
}

// lastWebhookTime returns when a replica last recorded a webhook of the Application.
func (s *sourceStage) lastWebhookTime() string {
	s.T.Helper()
	return s.Now(s.composedImageBuild()).GetAnnotations()[buildv1alpha1.AnnotationHookedAt]
}

// awaitWanted waits until the leader has seen a commit of the source.
func (s *sourceStage) awaitWanted(commit string) {
	s.T.Helper()
	s.Await(s.composedImageBuild(), "wants "+commit, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "wanted", "commit") == commit
	})
}

// countRecords sends many webhooks to replicas in turn, and returns how often they were recorded: each replica records at most one within the
// spacing of looks, and one afterwards for the webhooks that it put off.
func (s *sourceStage) countRecords(addresses []string, body []byte) (records, maximum int) {
	s.T.Helper()
	last, start := s.lastWebhookTime(), time.Now()
	count := func() {
		if now := s.lastWebhookTime(); now != last {
			last, records = now, records+1
		}
	}
	for i := range 60 {
		if got := s.postWebhookTo(addresses[i%len(addresses)], hookToken, body); got != 202 && got != 429 {
			s.T.Errorf("a hook of many is answered with %d", got)
		}
		count()
	}
	sent := time.Since(start)
	for time.Since(start) < sent+3*sources.Spacing {
		count()
	}
	return records, len(addresses) * (int(sent/sources.Spacing) + 2)
}
