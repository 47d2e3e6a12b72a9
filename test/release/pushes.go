package release

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/gitserver"
)

// pushes remember when each commit came to its repository.
type pushes struct {
	git   *gitserver.Server
	names []string

	mu   sync.Mutex
	all  map[string][]Push
	last map[string]string
	next map[string]func()
}

// A Push brought a commit.
type Push struct {
	Commit string
	At     time.Time
}

func newPushes(s *gitserver.Server) *pushes {
	return &pushes{git: s, all: map[string][]Push{}, last: map[string]string{}, next: map[string]func(){}}
}

func (p *pushes) isRepoFollowed(repository string) bool { return slices.Contains(p.names, repository) }

// followRepository looks at a repository after each push until the end. Other callbacks of the server after a push are replaced.
func (p *pushes) followRepository(ctx context.Context, repository string) {
	p.names = append(p.names, repository)
	ctx = context.WithoutCancel(ctx)
	p.last[repository], _ = p.readBranchTip(ctx, repository)
	p.git.AfterPush(repository, func() { p.recordPush(ctx, repository) })
}

func (p *pushes) readBranchTip(ctx context.Context, repository string) (string, error) {
	out, err := p.git.Git(ctx, repository, "rev-parse", gitserver.Branch)
	return strings.TrimSpace(out), err
}

// recordPush remembers that a push ended, unless it brought only state.
func (p *pushes) recordPush(ctx context.Context, repository string) {
	pushedAt := time.Now()
	id, err := p.readBranchTip(ctx, repository)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.last[repository] == id {
		return
	}
	p.all[repository], p.last[repository] = append(p.all[repository], Push{Commit: id, At: pushedAt}), id
	if callback := p.next[repository]; callback != nil {
		delete(p.next, repository)
		callback()
	}
}

// AfterNextCommit calls a function once the next commit is in a repository, while the server still holds back its answer to who pushed.
func (r *Release) AfterNextCommit(repository string, callback func()) {
	r.pushes.mu.Lock()
	defer r.pushes.mu.Unlock()
	r.pushes.next[repository] = callback
}

// Pushes of commits to a repository so far, the first one first.
func (r *Release) Pushes(repository string) []Push {
	r.pushes.mu.Lock()
	defer r.pushes.mu.Unlock()
	return slices.Clone(r.pushes.all[repository])
}

// A Division is how Git divides the requests of a Site from a moment on.
type Division struct {
	// Since the push that brought it.
	Since time.Time

	// Weights of the tracks that are there. A single track has 100.
	Weights map[string]int
}

// String is such as "blue 95, green 5". A directory without tracks is "plain 100".
func (d Division) String() string {
	out := []string{}
	for _, name := range track.Names() {
		if w, ok := d.Weights[name]; ok {
			out = append(out, fmt.Sprintf("%s %d", name, w))
		}
	}
	return strings.Join(out, ", ")
}

// Divisions returns how Git divided the requests of a Site, for each commit that changed its directory. It returns an error if a commit cannot be read.
func (r *Release) Divisions(ctx context.Context, s *Site) ([]Division, error) {
	out, last := []Division{}, ""
	for _, p := range r.Pushes(s.Repository) {
		id, err := r.cp.Git.Git(ctx, s.Repository, "ls-tree", "--object-only", p.Commit, s.Directory)
		if err != nil {
			return nil, err
		}
		if id = strings.TrimSpace(id); id == "" || id == last {
			continue
		}
		last = id
		files, err := r.cp.Git.Files(ctx, s.Repository, p.Commit)
		if err != nil {
			return nil, err
		}
		weights, err := weightsBelow(files, s.Directory)
		if err != nil {
			return nil, err
		}
		out = append(out, Division{Since: p.At, Weights: weights})
	}
	return out, nil
}

// weightsBelow returns the weights of the tracks that a directory has.
func weightsBelow(files map[string]string, dir string) (map[string]int, error) {
	ownFiles, tracks := tree.Files{}, map[string]bool{}
	for name, text := range files {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if !ok || strings.HasPrefix(rest, ".") {
			continue
		}
		ownFiles[rest] = []byte(text)
		folder, _, _ := strings.Cut(rest, "/")
		tracks[folder] = true
	}
	if track.IsFlat(ownFiles) {
		return map[string]int{track.Plain: 100}, nil //nolint:mnd // All requests, in percent.
	}
	weights, err := track.Weights(ownFiles)
	out := map[string]int{}
	for _, name := range track.Names() {
		if tracks[name] {
			out[name] = weights[name]
		}
	}
	return out, err
}
