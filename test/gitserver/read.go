package gitserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	fieldSeparator   = "\x1f"
	trailerSeparator = "\x1e"

	logFormat = "%H%x1f%T%x1f%P%x1f%an <%ae>%x1f%cn <%ce>%x1f%cI%x1f%B%x1f%(trailers:only,unfold,separator=%x1e)"
	logFields = 8
)

// A Commit is one commit as git log shows it.
type Commit struct {
	ID        string
	Tree      string
	Parents   []string
	Author    string
	Committer string
	Time      time.Time
	Message   string
	Trailers  map[string]string
}

// Log returns the commits of a branch, newest first. It returns an error if the branch does not exist.
func (s *Server) Log(ctx context.Context, repo, branch string) ([]Commit, error) {
	out, err := s.Git(ctx, repo, "log", "-z", "--format="+logFormat, branch, "--")
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		c, err := parseCommit(record)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

func parseCommit(record string) (Commit, error) {
	f := strings.SplitN(record, fieldSeparator, logFields)
	if len(f) != logFields {
		return Commit{}, errors.Errorf("cannot parse output of git log: %d fields instead of %d", len(f), logFields)
	}
	t, err := time.Parse(time.RFC3339, f[5])
	return Commit{
		ID:        f[0],
		Tree:      f[1],
		Parents:   strings.Fields(f[2]),
		Author:    f[3],
		Committer: f[4],
		Time:      t,
		Message:   f[6],
		Trailers:  parseTrailers(f[7]),
	}, errors.Wrap(err, "cannot parse date of commit")
}

func parseTrailers(s string) map[string]string {
	trailers := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(s), trailerSeparator) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			trailers[k] = strings.TrimSpace(v)
		}
	}
	return trailers
}

// Refs returns the commit, by full name of the ref, of every ref of a repository.
func (s *Server) Refs(ctx context.Context, repo string) (map[string]string, error) {
	out, err := s.Git(ctx, repo, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = id
	}
	return refs, nil
}

// Files returns the content, by path, of every file at the tip of a branch, or of anything else that names a tree. It returns an
// error if nothing has that name.
func (s *Server) Files(ctx context.Context, repo, branch string) (map[string]string, error) {
	out, err := s.Git(ctx, repo, "ls-tree", "-r", "-z", "--format=%(objectname) %(path)", branch)
	if err != nil {
		return nil, err
	}
	var paths []string
	var ids bytes.Buffer
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		id, path, ok := strings.Cut(entry, " ")
		if !ok {
			continue
		}
		paths = append(paths, path)
		ids.WriteString(id + "\n")
	}
	blobs, err := s.runGit(ctx, s.Path(repo), ids.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	return readBlobs(bufio.NewReader(bytes.NewReader(blobs)), paths)
}

// readBlobs reads the output of git cat-file --batch: for each object a line that ends in its size, its content, and a newline.
func readBlobs(r *bufio.Reader, paths []string) (map[string]string, error) {
	files := make(map[string]string, len(paths))
	for _, p := range paths {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read file %q", p)
		}
		size, err := strconv.Atoi(strings.TrimSpace(head[strings.LastIndex(head, " ")+1:]))
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read size of file %q", p)
		}
		content := make([]byte, size+1)
		if _, err := io.ReadFull(r, content); err != nil {
			return nil, errors.Wrapf(err, "cannot read file %q", p)
		}
		files[p] = string(content[:size])
	}
	return files, nil
}
