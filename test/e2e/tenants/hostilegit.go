package tenants

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/test/hostile"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// deliveries of the good tenant in each of the three times that it delivers.
	deliveries = 6

	// tolerance is the figure's limit of the ratio of the slowest delivery beside the hostile tenant to the slowest without it. Without shares a delivery does not end.
	tolerance = 4
)

// A harmful Git server, by the address of a repository there, with the expected message of a GitDelivery to it.
type harmful struct {
	url  string
	want string
	// deployments that are delivered to it. Pushes to one branch go one after another, so the last of many would wait for minutes.
	deployments int
}

// startHostileGits starts servers of the tenant, and blocks the shared server of all tenants for two of its repositories. Until free is called, which may be
// called twice.
func (s *stage) startHostileGits() (gits map[string]harmful, free func()) {
	s.T.Helper()
	freed := make(chan struct{})
	hang := func() { <-freed }
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-freed:
		case <-r.Context().Done():
		}
	}))
	reads, pushes := s.Namespace+"-reads", s.Namespace+"-pushes"
	for _, repo := range []string{reads, pushes} {
		s.Must(s.Git.CreateRepo(s.T.Context(), repo, map[string]string{"README.md": "What a tenant runs.\n"}))
	}
	s.Git.BeforeFetch(reads, hang)
	s.Git.DropPush(pushes, hang)
	tiny, broken, refs := hostile.NewGit(hostile.TinyObjects(400_000)), hostile.NewGit(hostile.BrokenPack()), hostile.NewGitWithRefs(1_000_000)
	free = sync.OnceFunc(func() {
		close(freed)
		hanging.CloseClientConnections()
		hanging.Close()
		for _, g := range []*hostile.Git{tiny, broken, refs} {
			g.Stop()
		}
	})
	s.T.Cleanup(free)
	return map[string]harmful{
		"hanging":      {url: hanging.URL + "/repo.git", want: "MemoryUnknown: cannot read the repository: it did not answer in time", deployments: 3},
		"reads":        {url: s.Git.URL(reads), want: "MemoryUnknown: cannot read the repository: it did not answer in time", deployments: 3},
		"pushes":       {url: s.Git.URL(pushes), want: "Unreachable: cannot push to the repository: it did not answer in time", deployments: 1},
		"tiny-objects": {url: tiny.RepositoryURL(), want: "TooLarge: cannot read the repository: the server sent more than fits", deployments: 3},
		"broken-pack":  {url: broken.RepositoryURL(), want: "MemoryUnknown: cannot read the repository: the pack that the server sent is broken", deployments: 3},
		"refs":         {url: refs.RepositoryURL(), want: "TooLarge: cannot read the repository: the server sent more than fits", deployments: 3},
	}, free
}

// deliverToRepository delivers deployments to a repository, by a configuration of its own.
func (s *stage) deliverToRepository(name string, g harmful) {
	s.T.Helper()
	config := s.ProviderConfig()
	config.SetName(name)
	s.Apply(s.Set(config, g.url, "spec", "git", "url"))
	for n := range g.deployments {
		service := fmt.Sprintf("%s-%d", name, n)
		claim := s.Claim(service, s.describeIntent(service, 1, "plain"))
		s.Apply(s.Set(claim, map[string]any{"kind": "ProviderConfig", "name": name}, "spec", "deliveryConfig", "gitOpsRepo"))
	}
}

// awaitUnready waits until the GitDelivery and the deployment that go to a harmful server name its fault.
func (s *stage) awaitUnready(name, want string) {
	s.T.Helper()
	service := name + "-0"
	lastMessage := ""
	s.T.Cleanup(func() {
		if s.T.Failed() {
			s.T.Logf("%s: want %q, last said %q", service, want, lastMessage)
		}
	})
	s.Until("Ready says of "+service+": "+want, patience.Limit, func() bool {
		for _, d := range s.Deliveries() {
			if d.Spec.ForProvider.ClaimRef.Name == service {
				ready := d.GetCondition(xpv2.TypeReady)
				lastMessage = fmt.Sprintf("%s: %s", ready.Reason, ready.Message)
			}
		}
		return strings.HasPrefix(lastMessage, want)
	})
	_, message, _ := strings.Cut(want, ": ")
	s.Until("the deployment "+service+" says: "+message, patience.Limit, func() bool {
		lastMessage = scene.Field(s.Now(s.Claim(service, "")), "status", "message")
		return strings.Contains(lastMessage, message)
	})
}

// slowestDelivery delivers deployments and changes of them, one after the other, and returns the time that the slowest took, which is their 95th
// percentile.
func (s *stage) slowestDelivery(batch string) time.Duration {
	s.T.Helper()
	took := []time.Duration{}
	for n := range deliveries / 2 {
		for replicas := range 2 {
			name, began := fmt.Sprintf("%s-%d", batch, n), time.Now()
			s.Succeed(s.Claim(name, s.describeIntent(name, 1+replicas, "edge1")))
			took = append(took, time.Since(began))
		}
	}
	s.T.Logf("deliveries %s: %v", batch, took)
	return slices.Max(took)
}
