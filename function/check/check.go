// Package check checks rendered trees before they are delivered. It remembers which passed: the same files, Site, configuration and
// definitions pass again without being checked.
package check

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/render"
)

type key = [sha256.Size]byte

// A Checker checks trees. It may be used by several goroutines.
type Checker struct {
	max int

	mu     sync.Mutex
	passed map[key]bool
	older  map[key]bool
}

// New returns a Checker that remembers up to twice limit trees that passed.
func New(limit int) *Checker {
	return &Checker{max: limit, passed: map[key]bool{}, older: map[key]bool{}}
}

// Check returns an error, as policy.CheckTree does, when a tree that was rendered from a Blueprint may not be delivered. Objects
// are checked by the Blueprint's own definitions too.
func (c *Checker) Check(b *catalogv1alpha1.Blueprint, in policy.Input) error {
	k, err := digestInput(b, in)
	if err != nil {
		return err
	}
	if c.hasPassed(k) {
		return nil
	}
	if in.Definitions, err = render.Definitions(b); err != nil {
		return err
	}
	if err := policy.CheckTree(in); err != nil {
		return err
	}
	c.rememberPassed(k)
	return nil
}

func (c *Checker) hasPassed(k key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed[k] || c.older[k]
}

// rememberPassed remembers a tree that passed. It drops the older half when the newer half is full.
func (c *Checker) rememberPassed(k key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.passed) >= c.max {
		c.older, c.passed = c.passed, map[key]bool{}
	}
	c.passed[k] = true
}

// digestInput returns the digest of all inputs of a check.
func digestInput(b *catalogv1alpha1.Blueprint, in policy.Input) (key, error) {
	//nolint:musttag // The JSON is only digested.
	limits, err := json.Marshal(struct {
		Claim        rolloutv1alpha1.ClaimReference
		Name         string
		Site         catalogv1alpha1.SiteSpec
		ConfigKind   string
		Config       *configv1alpha1.ProviderConfigSpec
		Branch, Path string
		Layout       catalogv1alpha1.Layout
	}{in.Claim, in.Site.GetName(), in.Site.Spec, in.ConfigKind, in.Config, in.Branch, in.Path, in.Layout})
	if err != nil {
		return key{}, errors.Wrap(err, "cannot encode the input of the check")
	}
	h := sha256.New()
	add := func(b []byte) {
		// The length before each part separates it from the next part. Writing to a hash never fails.
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		_, _ = h.Write(b)
	}
	add(limits)
	for _, name := range in.Files.Names() {
		add([]byte(name))
		add(in.Files[name])
	}
	render.EachDefinition(b, add)
	return key(h.Sum(nil)), nil
}
