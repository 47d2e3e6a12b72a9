package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/test/gitserver"
)

const repo = "team/repo"

// serve starts a real Git server with one repository.
func serve(tb testing.TB, seed map[string]string, o ...gitserver.Option) *gitserver.Server {
	tb.Helper()
	s, err := gitserver.New(context.Background(), tb.TempDir(), o...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	if err := s.CreateRepo(context.Background(), repo, seed); err != nil {
		tb.Fatal(err)
	}
	return s
}

func client(tb testing.TB, s *gitserver.Server, change ...func(r *Remote)) *Client {
	tb.Helper()
	r := Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: stateRef}
	for _, fn := range change {
		fn(&r)
	}
	c, err := NewClient(r, budget.New())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

func look(tb testing.TB, c *Client) *Snapshot {
	tb.Helper()
	s, err := c.Look(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func plan(tb testing.TB, s *Snapshot, c Change) *Proposal {
	tb.Helper()
	p, err := Plan(tb.Context(), s, change(c))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func push(tb testing.TB, c *Client, p *Proposal) *Pushed {
	tb.Helper()
	done, err := c.Push(context.Background(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

func run(tb testing.TB, s *gitserver.Server, args ...string) string {
	tb.Helper()
	out, err := s.Git(context.Background(), repo, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func delivery(n int) Change {
	c := put("sites/a/ns/web", files("deployment.yaml", fmt.Sprintf("replicas: %d\n", n), ".intentplane", "claim: ns/web\n"))
	c.State = files("claims/ns/web", fmt.Sprintf("revision: %d\n", n))
	return c
}

// oddFiles commits entries that only unmanaged commits have: an executable file, a
// link, a submodule, names that sort strangely. It returns the listing of the
// tree.
func oddFiles(t *testing.T, s *gitserver.Server) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := run(t, s, "hash-object", "-w", script)
	run(t, s, "read-tree", gitserver.Branch)
	for _, e := range []string{"100755," + blob + ",bin/run", "120000," + blob + ",sites/link", "160000," + run(t, s, "rev-parse", gitserver.Branch) + ",sites/module", "100644," + blob + ",sites-x", "100644," + blob + ",sites.x"} {
		run(t, s, "update-index", "--add", "--cacheinfo", e)
	}
	commit := run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Odd", "-p", gitserver.Branch, run(t, s, "write-tree"))
	run(t, s, "update-ref", "refs/heads/"+gitserver.Branch, commit)
	return run(t, s, "ls-tree", "-r", gitserver.Branch)
}

func TestDelivery(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello", "sites/b/other.yaml": "x"})
	previous := oddFiles(t, s)
	c := client(t, s)

	first := push(t, c, plan(t, look(t, c), delivery(1)))
	got, err := s.Files(context.Background(), repo, gitserver.Branch+":sites/a/ns/web")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"deployment.yaml": "replicas: 1\n", ".intentplane": "claim: ns/web\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nThe files are on the branch\nFiles(): -want, +got:\n%s", diff)
	}
	log, err := s.Log(context.Background(), repo, gitserver.Branch)
	if err != nil {
		t.Fatal(err)
	}
	head := gitserver.Commit{
		ID: first.Snapshot.Tip(), Tree: log[0].Tree, Parents: []string{log[1].ID}, Time: log[0].Time, Message: "Deliver web\n\nIntent-Claim: team-a/web\n",
		Author: "Intentplane <intentplane@example.org>", Committer: "Intentplane <intentplane@example.org>",
		Trailers: map[string]string{"Intent-Claim": "team-a/web"},
	}
	if diff := cmp.Diff(head, log[0]); diff != "" {
		t.Errorf("\nThe commit equals the planned commit\nLog(): -want, +got:\n%s", diff)
	}
	if want := change(Change{}).When; !log[0].Time.Equal(want) {
		t.Errorf("\nThe date equals the date of the change\nLog(): want %s, got %s", want, log[0].Time)
	}
	if diff := cmp.Diff(true, first.Atomic); diff != "" {
		t.Errorf("\nThe server pushes atomically\nPush(): -want, +got:\n%s", diff)
	}

	second := push(t, c, plan(t, first.Snapshot, delivery(2)))
	push(t, c, plan(t, second.Snapshot, Change{Remove: []string{"sites/a/ns/web"}, State: map[string][]byte{"claims/ns/web": nil}}))
	if diff := cmp.Diff(previous, run(t, s, "ls-tree", "-r", gitserver.Branch)); diff != "" {
		t.Errorf("\nEverything else is bit-identical, and nothing of ours stays\nls-tree: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(run(t, s, "rev-parse", gitserver.Branch+"~3^{tree}"), run(t, s, "rev-parse", gitserver.Branch+"^{tree}")); diff != "" {
		t.Errorf("\nThe tree equals the tree before the deliveries\nrev-parse: -want, +got:\n%s", diff)
	}
	run(t, s, "fsck", "--strict", "--full")
}

func TestSecondLookFetchesWhatIsNew(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	done := push(t, c, plan(t, look(t, c), delivery(1)))

	fresh := look(t, c)
	data, ok, err := fresh.StateFile(t.Context(), "claims/ns/web")
	if diff := cmp.Diff(fmt.Sprint("revision: 1\n", true, nil), fmt.Sprint(string(data), ok, err)); diff != "" {
		t.Errorf("\nThe state is read back\nStateFile(): -want, +got:\n%s", diff)
	}
	marker, _, err := fresh.Entry(t.Context(), "sites/a/ns/web/.intentplane")
	if diff := cmp.Diff(objects.Entry{Mode: "100644", ID: objects.BlobID([]byte("claim: ns/web\n"))}, marker); diff != "" || err != nil {
		t.Errorf("\nThe marker is seen without its content\nEntry(): -want, +got:\n%s\n%v", diff, err)
	}
	want, _ := done.Snapshot.Subtree(t.Context(), "sites/a/ns/web")
	if got, err := fresh.Subtree(t.Context(), "sites/a/ns/web"); got != want || err != nil || got != run(t, s, "rev-parse", "main:sites/a/ns/web") {
		t.Errorf("\nThe tree equals the planned tree\nSubtree(): want %s, got %s, %v", want, got, err)
	}

	tidy, err := c.Look(context.Background(), done.Snapshot)
	if err != nil || !tidy.holdsSameAs(done.Snapshot) {
		t.Errorf("\nNothing moved\nLook(): %v", err)
	}
	baseline := s.Requests(repo)
	unchanged, err := c.Look(context.Background(), tidy)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(1, s.Requests(repo)-baseline); diff != "" || !unchanged.holdsSameAs(tidy) || unchanged.history != tidy.history {
		t.Errorf("\nNothing moved: one request, the same snapshot\nLook(): -want, +got:\n%s", diff)
	}
	pushes := s.Pushes(repo)
	push(t, c, plan(t, unchanged, delivery(1)))
	if diff := cmp.Diff(pushes, s.Pushes(repo)); diff != "" {
		t.Errorf("\nNothing changed: nothing is pushed\nPush(): -want, +got:\n%s", diff)
	}
}

func TestReadFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		any    string
	}{
		"OneFile":   {reason: "A server that gives any object is asked for the single file.", any: "true"},
		"WholeTree": {reason: "A server that gives no single object is asked for the whole tree.", any: "false"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"theirs/.intentplane": "claim: other\n"})
			run(t, s, "config", "uploadpack.allowAnySHA1InWant", tc.any)
			c := client(t, s)
			snapshot := look(t, c)
			if n := snapshot.branch.Count(); n != 3 {
				t.Errorf("\n%s\nLook(): want a commit and two trees, got %d objects", tc.reason, n)
			}
			got, ok, err := c.ReadFile(context.Background(), snapshot, "theirs/.intentplane")
			if diff := cmp.Diff(fmt.Sprint("claim: other\n", true, nil), fmt.Sprint(string(got), ok, err)); diff != "" {
				t.Errorf("\n%s\nReadFile(): -want, +got:\n%s", tc.reason, diff)
			}
			_, ok, err = c.ReadFile(context.Background(), snapshot, "theirs")
			if ok || err != nil {
				t.Errorf("\n%s\nReadFile(): a directory is no file: %t, %v", tc.reason, ok, err)
			}
		})
	}
}

func TestEmptyRepository(t *testing.T) {
	s := serve(t, nil)
	c := client(t, s)
	snapshot := look(t, c)
	if diff := cmp.Diff(fmt.Sprint("", "", true), fmt.Sprint(snapshot.Tip(), snapshot.StateTip(), snapshot.Empty())); diff != "" {
		t.Errorf("\nNothing is there\nLook(): -want, +got:\n%s", diff)
	}
	done := push(t, c, plan(t, snapshot, delivery(1)))
	if diff := cmp.Diff(done.Snapshot.Tip(), run(t, s, "rev-parse", gitserver.Branch)); diff != "" {
		t.Errorf("\nThe branch is made\nrev-parse: -want, +got:\n%s", diff)
	}
	if look(t, c).Empty() {
		t.Error("\nA repository with a branch is not empty\nEmpty(): true")
	}
	run(t, s, "fsck", "--strict", "--full")
}

func TestMissingBranch(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	snapshot := look(t, client(t, s, func(r *Remote) { r.Branch = "absent" }))
	if diff := cmp.Diff(fmt.Sprint("", false), fmt.Sprint(snapshot.Tip(), snapshot.Empty())); diff != "" {
		t.Errorf("\nA missing branch of a repository with other branches differs from an empty repository\nLook(): -want, +got:\n%s", diff)
	}
}

func TestConflict(t *testing.T) {
	cases := map[string]struct {
		reason string
		atomic string
		late   bool
	}{
		"SeenBefore":    {reason: "A branch that moved before the push is seen in the refs that the server lists.", atomic: "true"},
		"SeenByServer":  {reason: "A branch that moves during the push is refused by the server as a conflict.", atomic: "true", late: true},
		"WithoutAtomic": {reason: "Without atomic pushes, a branch that moved before the push is seen in the refs that the server lists.", atomic: "false"},
		"WithoutAtomicToo": {
			reason: "Without atomic pushes, a branch that moves during the push is refused by the server as a conflict.",
			atomic: "false", late: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			run(t, s, "config", "receive.advertiseAtomic", tc.atomic)
			c := client(t, s)
			snapshot := look(t, c)
			p := plan(t, snapshot, delivery(1))
			if tc.late {
				// The hook runs in the push, after the refs were compared.
				hook(t, s, "pre-receive", "unset GIT_QUARANTINE_PATH; git update-ref refs/heads/main "+pushUnmanaged(t, s))
			}
			if !tc.late {
				run(t, s, "update-ref", "refs/heads/main", pushUnmanaged(t, s))
			}
			_, err := c.Push(context.Background(), p)
			if diff := cmp.Diff(failure.ClassConflict, failure.ClassOf(err)); diff != "" || !failure.IsConflict(err) {
				t.Fatalf("\n%s\nPush(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			unhook(t, s, "pre-receive")
			push(t, c, plan(t, look(t, c), delivery(1)))
			got, err := s.Files(context.Background(), repo, gitserver.Branch)
			want := map[string]string{"README.md": "hello", "theirs": "late", "sites/a/ns/web/.intentplane": "claim: ns/web\n", "sites/a/ns/web/deployment.yaml": "replicas: 1\n"}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nNothing is lost: -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

// pushUnmanaged makes a commit on the branch, takes it back, and returns its id.
func pushUnmanaged(t *testing.T, s *gitserver.Server) string {
	t.Helper()
	tip := run(t, s, "rev-parse", gitserver.Branch)
	id, err := s.Commit(context.Background(), repo, gitserver.Branch, map[string]string{"theirs": "late"}, "Late")
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, "update-ref", "refs/heads/"+gitserver.Branch, tip)
	return id
}

func hook(t *testing.T, s *gitserver.Server, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Path(repo), "hooks", name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func unhook(t *testing.T, s *gitserver.Server, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.Path(repo), "hooks", name)); err != nil {
		t.Fatal(err)
	}
}

func TestRefusedPush(t *testing.T) {
	refuse := func(ref string) string {
		return `[ "$1" != "` + ref + `" ] || { echo "rule 7 says no" >&2; exit 1; }`
	}
	cases := map[string]struct {
		reason string
		hook   string
		script string
		atomic string
		want   failure.Class
		// detail names the refs that were refused.
		detail string
		refs   int
	}{
		"BranchAtomic": {
			reason: "An atomic push whose branch is refused writes neither the branch nor the state.",
			hook:   "update", script: refuse("refs/heads/main"), atomic: "true", want: failure.ClassPolicy,
			detail: "cannot push to refs/heads/main: hook declined", refs: 1,
		},
		"BranchWithout": {
			reason: "Without atomic pushes, the state is written before the branch is refused.",
			hook:   "update", script: refuse("refs/heads/main"), atomic: "false", want: failure.ClassPolicy,
			detail: "cannot push to refs/heads/main: hook declined", refs: 2,
		},
		"StateAtomic": {
			reason: "An atomic push whose state is refused writes neither the branch nor the state.",
			hook:   "update", script: refuse(stateRef), atomic: "true", want: failure.ClassStateRefused,
			detail: "cannot push to " + stateRef + ": hook declined", refs: 1,
		},
		"StateWithout": {
			reason: "Without atomic pushes, the branch is not written after the state was refused.",
			hook:   "update", script: refuse(stateRef), atomic: "false", want: failure.ClassStateRefused,
			detail: "cannot push to " + stateRef + ": hook declined", refs: 1,
		},
		"PreReceive":        {reason: "A hook that refuses the push as a whole leaves both refs where they were.", hook: "pre-receive", script: "echo rule 7 says no >&2; exit 1", atomic: "true", want: failure.ClassPolicy, detail: "cannot push to refs/heads/main and " + stateRef + ": pre-receive hook declined", refs: 1},
		"PreReceiveWithout": {reason: "Without atomic pushes, a hook that refuses the push as a whole leaves both refs where they were.", hook: "pre-receive", script: "echo rule 7 says no >&2; exit 1", atomic: "false", want: failure.ClassStateRefused, detail: "cannot push to " + stateRef + ": pre-receive hook declined", refs: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			run(t, s, "config", "receive.advertiseAtomic", tc.atomic)
			hook(t, s, tc.hook, tc.script)
			c := client(t, s)
			tip := run(t, s, "rev-parse", gitserver.Branch)
			_, err := c.Push(context.Background(), plan(t, look(t, c), delivery(1)))
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nPush(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			e := &failure.Error{}
			if !errors.As(err, &e) || !strings.Contains(e.Remote, "rule 7 says no") {
				t.Errorf("\n%s\nThe hook's message is separate from the error\nPush(): %#v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.detail, e.Detail); diff != "" {
				t.Errorf("\n%s\nPush(): detail: -want, +got:\n%s", tc.reason, diff)
			}
			refs, err := s.Refs(context.Background(), repo)
			if diff := cmp.Diff(tc.refs, len(refs)); diff != "" || err != nil || refs["refs/heads/main"] != tip {
				t.Errorf("\n%s\nRefs(): -want, +got:\n%s\n%v %v", tc.reason, diff, refs, err)
			}
			// The log was written ahead: the remaining updates are carried out.
			unhook(t, s, tc.hook)
			push(t, c, plan(t, look(t, c), delivery(1)))
		})
	}
}

// clientAt returns a client of the server at a URL, which is not asked for anything.
func clientAt(t *testing.T, url string) *Client {
	t.Helper()
	c, err := NewClient(Remote{URL: url + "/" + repo, Branch: "main", StateRef: stateRef}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestNewClientWithoutBudget makes clients whose answers no namespace pays for.
func TestNewClientWithoutBudget(t *testing.T) {
	for name, b := range map[string]*budget.Budget{"nil": nil, "zero": {}} {
		if _, err := NewClient(Remote{URL: "https://git.example.org/team/shop", Branch: "main", StateRef: stateRef}, b); err == nil {
			t.Errorf("\nA client without a budget is not made.\nNewClient(...) with a %s budget: want an error", name)
		}
	}
}
