package observation

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/usage"
)

// maxUnmanagedMarkers is the maximum number of possible markers of other claims that one observation reads in one directory.
const maxUnmanagedMarkers = 64

// Gather gathers the facts about a delivery. A persistent error of the comparison of directories becomes a fact: the ledger is recorded nevertheless.
// It returns an error if the git server or the API server cannot be read.
func (g *Gatherer) Gather(ctx context.Context, d *v1alpha1.GitDelivery, s *git.Snapshot) (decision.Facts, error) {
	f := decision.Facts{
		Namespace: d.GetNamespace(), Spec: *d.Spec.ForProvider.DeepCopy(), LastStatus: *d.Status.AtProvider.DeepCopy(),
		ConfigKind: g.Config.Kind, Config: g.Config.Spec, Marker: g.markerOfDelivery(d), Tip: s.Tip(),
		Forged: s.StateForged(), Rival: s.StateRival(), Forgotten: forgottenBranches(d),
	}
	f.Ledger = decision.LedgerFacts{
		Shown: f.LastStatus.Ledger, Now: g.Now(), Identity: fmt.Sprintf("%s %s", d.GetUID(), instant.Timestamp(g.Now()).Format("20060102T150405Z")),
	}
	var err error
	if f.MarkerContent, err = f.Marker.Encode(); err != nil {
		return decision.Facts{}, err
	}
	if err = g.readLedger(ctx, &f, s); err != nil {
		return decision.Facts{}, err
	}
	f.Delivered = f.KnownTrees()
	if g.AsRead == nil || !g.actsByMandate(d, f) {
		f.Spec.Mandate = nil
	}
	if f.Siblings, err = g.gatherSiblings(ctx, d, f); err != nil {
		return decision.Facts{}, err
	}
	f.Ledger.Known = f.NewestElsewhere(d)
	if f.Sites, err = g.sitesByName(ctx, f.AllSiteNames()); err != nil {
		return decision.Facts{}, err
	}
	if f.Witnesses, err = g.gatherWitnesses(ctx, f); err != nil {
		return decision.Facts{}, err
	}
	if f, err = g.followHome(ctx, d, f); err != nil {
		return decision.Facts{}, err
	}
	f = g.guardForward(ctx, d, f).FollowLedger().DecodeFiles()
	if err = g.gatherDirectories(ctx, d, &f, s); err != nil && isPersistent(err) {
		f.Ledger.Obstacle, err = err, nil
	}
	return f, err
}

// isPersistent reports whether an error is about the content of the repository, so that it stays until a user changes the content.
func isPersistent(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassInvalid, failure.ClassTooLarge, failure.ClassTooCostly, failure.ClassOccupied, failure.ClassPolicy:
		return true
	}
	return false
}

// forgottenBranches returns the former branches that the object's annotation asks to forget. No name of a branch has white space.
func forgottenBranches(d *v1alpha1.GitDelivery) []string {
	return strings.FieldsFunc(d.GetAnnotations()[v1alpha1.AnnotationForgetBranches], func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// gatherDirectories gathers the directories of the branch, and the files that may be written there.
func (g *Gatherer) gatherDirectories(ctx context.Context, d *v1alpha1.GitDelivery, f *decision.Facts, s *git.Snapshot) error {
	var err error
	if f.InBranch, err = g.commitsInBranch(ctx, *f, s); err != nil {
		return err
	}
	if f.Restored, err = g.restoredTrees(ctx, d, *f, s); err != nil {
		return err
	}
	if f.Parts, err = g.findParts(ctx, d, *f, s); err != nil {
		return err
	}
	if f.Variables, err = g.deliveredVariables(ctx, *f, s); err != nil {
		return err
	}
	f.Directories = map[string]decision.Directory{}
	for _, path := range f.AllDirectories() {
		if f.Directories[path], err = g.directoryAt(ctx, *f, s, path); err != nil {
			return err
		}
	}
	f.Overlaps, err = g.findOverlaps(ctx, *f, s)
	return err
}

// commitsInBranch reports whether the last observed commit and the recorded commit are in the branch. It looks for the base only if the branch lacks the
// recorded commit.
func (g *Gatherer) commitsInBranch(ctx context.Context, f decision.Facts, s *git.Snapshot) (map[string]bool, error) {
	out := map[string]bool{decision.Unborn: true}
	find := func(commit string) error {
		if _, isKnown := out[commit]; isKnown || commit == "" {
			return nil
		}
		var err error
		out[commit], err = g.Repository.Contains(ctx, s, commit)
		return err
	}
	if err := find(f.LastSeenCommit()); err != nil || f.Memory == nil || f.Memory.Commit == "" {
		return out, err
	}
	if err := find(f.Memory.Commit); err != nil || out[f.Memory.Commit] {
		return out, err
	}
	return out, find(f.Memory.Base)
}

func (g *Gatherer) markerOfDelivery(d *v1alpha1.GitDelivery) marker.Marker {
	m := marker.Marker{Claim: d.Spec.ForProvider.ClaimRef, ControlPlane: g.Config.Spec.ControlPlane, ClusterUID: g.ClusterUID}
	m.Claim.UID = ""
	return m
}

func (g *Gatherer) sitesByName(ctx context.Context, names []string) (map[string]*catalogv1alpha1.Site, error) {
	out := map[string]*catalogv1alpha1.Site{}
	for _, name := range names {
		site := &catalogv1alpha1.Site{}
		err := g.Kube.Get(ctx, client.ObjectKey{Name: name}, site)
		if kerrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, errors.Wrapf(err, "cannot get Site %q", name)
		}
		out[name] = site
	}
	return out, nil
}

// readStateOwner returns the UID of the cluster that writes the state, or the reason why it is unknown.
func readStateOwner(ctx context.Context, s *git.Snapshot) (string, string, error) {
	content, ok, err := s.StateFile(ctx, state.OwnerPath)
	if failure.ClassOf(err) == failure.ClassOccupied {
		return "", err.Error(), nil
	}
	if err != nil || !ok {
		return "", "", err
	}
	uid, err := state.DecodeOwner(content)
	if err != nil {
		return "", state.OwnerPath + ": " + err.Error(), nil //nolint:nilerr // The decoding error is a fact.
	}
	return uid, "", nil
}

// directoryAt returns the observed directory at a path. It is empty for a path that no repository can have: decision.Decide refuses such a path.
func (g *Gatherer) directoryAt(ctx context.Context, f decision.Facts, s *git.Snapshot, path string) (decision.Directory, error) {
	entry, ok, err := s.Entry(ctx, path)
	if failure.ClassOf(err) == failure.ClassInvalid {
		return decision.Directory{}, nil
	}
	if err != nil {
		return decision.Directory{}, err
	}
	if ok && entry.Mode != objects.ModeTree {
		return decision.Directory{Blocked: true}, nil
	}
	out := decision.Directory{}
	if out.Entangled, err = g.nestedClaim(ctx, f, s, path); err != nil || !ok {
		return out, err
	}
	out.Tree = entry.ID
	if out.Marker, err = g.readMarkerAt(ctx, f, s, path+"/"+tree.Marker); err != nil {
		return out, err
	}
	out.Orphaned, err = g.isLeftByOtherShape(ctx, f, out.Marker)
	return out, err
}

// isLeftByOtherShape is true for the marker of a claim of the same name and another shape, if this cluster has no delivery for that claim any more.
func (g *Gatherer) isLeftByOtherShape(ctx context.Context, f decision.Facts, m *marker.Marker) (bool, error) {
	if m == nil || !ptr.Deref(f.Spec.Adopt, false) || m.SameClaim(f.Marker) {
		return false, nil
	}
	expected := *m
	expected.Claim.APIGroup, expected.Claim.Kind = f.Marker.Claim.APIGroup, f.Marker.Claim.Kind
	if !expected.SameClaim(f.Marker) || !f.IsSameCluster(m.ClusterUID) {
		return false, nil
	}
	parts, err := g.DeliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}

// DeliveriesOf returns the GitDeliveries of a claim, also of another UID, the oldest first.
func (g *Gatherer) DeliveriesOf(ctx context.Context, claim rolloutv1alpha1.ClaimReference) ([]v1alpha1.GitDelivery, error) {
	out, err := usage.OfClaim(ctx, g.Kube, claim)
	slices.SortFunc(out, func(a, b v1alpha1.GitDelivery) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	return out, err
}

// nestedClaim returns the path of a claim's directory around or in another directory. A write of the outer directory removes the inner directory.
func (g *Gatherer) nestedClaim(ctx context.Context, f decision.Facts, s *git.Snapshot, directoryPath string) (string, error) {
	for dir := path.Dir(directoryPath); dir != "."; dir = path.Dir(dir) {
		if m, err := g.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker); m != nil || err != nil {
			return dir, err
		}
	}
	return g.claimInside(ctx, f, s, directoryPath)
}

// claimInside returns the path of the first claim's directory below a directory. Equal files with the name of a marker are read once.
func (g *Gatherer) claimInside(ctx context.Context, f decision.Facts, s *git.Snapshot, dir string) (string, error) {
	named, err := s.FilesNamedBelow(ctx, dir, tree.Marker)
	if err != nil {
		return "", aboutDirectory(dir, err)
	}
	delete(named, dir)
	visited := map[string]bool{}
	for _, inner := range slices.Sorted(maps.Keys(named)) {
		if visited[named[inner]] {
			continue
		}
		if visited[named[inner]] = true; len(visited) > maxUnmanagedMarkers {
			detail := fmt.Sprintf("more than %d different files below it are named %s", maxUnmanagedMarkers, tree.Marker)
			return "", aboutDirectory(dir, &failure.Error{Class: failure.ClassTooLarge, Detail: detail})
		}
		m, err := g.readMarkerAt(ctx, f, s, inner+"/"+tree.Marker)
		if failure.ClassOf(err) == failure.ClassInvalid {
			continue // No claim's directory has such a path.
		}
		if m != nil || err != nil {
			return inner, err
		}
	}
	return "", nil
}

// aboutDirectory adds the directory to an error, for the tenant who reads the condition.
func aboutDirectory(dir string, err error) error {
	return errors.Wrapf(err, "directory %q", dir)
}

// readMarkerAt returns the marker at a path, or nil if the path has no valid marker. It reads only markers of other owners from the server: the marker of
// this claim has a known id.
func (g *Gatherer) readMarkerAt(ctx context.Context, f decision.Facts, s *git.Snapshot, path string) (*marker.Marker, error) {
	entry, ok, err := s.Entry(ctx, path)
	if err != nil || !ok || entry.Mode != objects.ModeFile {
		return nil, err
	}
	if entry.ID == objects.BlobID(f.MarkerContent) {
		return &f.Marker, nil
	}
	content, ok, err := g.Repository.ReadFile(ctx, s, path)
	if err != nil || !ok {
		return nil, err
	}
	m, err := marker.Parse(content)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // A file that cannot be parsed as a marker belongs to another user.
	}
	return &m, nil
}

// readLedger reads the ledger, the record and the retained trees from the state. If the record was lost, the commits of the branch show the used revision
// numbers.
func (g *Gatherer) readLedger(ctx context.Context, f *decision.Facts, s *git.Snapshot) error {
	l, claim := &f.Ledger, f.Spec.ClaimRef
	var err error
	if l.File, err = readLedgerFile(ctx, s, state.LedgerPath(claim), state.DecodeLedger, f); err != nil {
		return err
	}
	if l.Record, err = readLedgerFile(ctx, s, state.RecordPath(claim), state.DecodeRecord, f); err != nil {
		return err
	}
	if f.Unreadable == "" {
		if f.Owner, f.Unreadable, err = readStateOwner(ctx, s); err != nil {
			return err
		}
	}
	if f.Retained, err = s.RetainedTrees(ctx, state.TreesPath(claim)); err != nil {
		return err
	}
	if l.File != nil {
		l.Recorded, l.Taken = l.File.State, l.File.TakenHead()
	}
	if l.Record != nil {
		l.Recorded.LastNumber = max(l.Recorded.LastNumber, l.Record.HighestNumber())
	}
	if l.Record != nil && l.Record.Head.Seq > 0 {
		f.Memory = l.Record
		return nil
	}
	return g.rebuildFromCommits(ctx, f, s)
}

// readLedgerFile returns a file of the state, or nil for a missing file. The error of an invalid file goes into the facts.
func readLedgerFile[T any](ctx context.Context, s *git.Snapshot, path string, decode func([]byte) (T, error), f *decision.Facts) (*T, error) {
	content, ok, err := s.StateFile(ctx, path)
	if failure.ClassOf(err) == failure.ClassOccupied {
		f.Unreadable = err.Error()
		return nil, nil //nolint:nilnil // The error is in the facts.
	}
	if err != nil || !ok {
		return nil, err
	}
	file, err := decode(content)
	var newer *state.NewerError
	switch {
	case errors.As(err, &newer):
		f.Ledger.Newer = path + ": " + err.Error()
		return nil, nil //nolint:nilnil // The error is in the facts.
	case err != nil:
		f.Unreadable = path + ": " + err.Error()
		return nil, nil //nolint:nilnil,nilerr // The error is in the facts.
	}
	return &file, nil
}

// gatherSiblings returns the deliveries of the claim, the oldest first, for a home that may be about to record events, and for a repository that may
// follow the mandate of the home. It returns nil for each other delivery.
func (g *Gatherer) gatherSiblings(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts) ([]v1alpha1.GitDelivery, error) {
	if !f.MayRecord() && !g.mayFollowHome(d, f) {
		return nil, nil
	}
	return g.DeliveriesOf(ctx, f.Spec.ClaimRef)
}
