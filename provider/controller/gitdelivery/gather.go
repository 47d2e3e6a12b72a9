package gitdelivery

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
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/usage"
)

// maxUnmanagedMarkers is the maximum number of possible markers of other claims that one observation reads in one directory.
const maxUnmanagedMarkers = 64

// gatherFacts gathers the facts about a delivery. A persistent error of the comparison of directories becomes a fact: the ledger is recorded nevertheless.
// It returns an error if the git server or the API server cannot be read.
func (e *external) gatherFacts(ctx context.Context, d *v1alpha1.GitDelivery, s *git.Snapshot) (facts, error) {
	f := facts{
		namespace: d.GetNamespace(), spec: *d.Spec.ForProvider.DeepCopy(), lastStatus: *d.Status.AtProvider.DeepCopy(),
		configKind: e.config.Kind, config: e.config.Spec, marker: e.markerOfDelivery(d), tip: s.Tip(),
		forged: s.StateForged(), rival: s.StateRival(), forgotten: forgottenBranches(d),
	}
	f.ledger = ledgerFacts{shown: f.lastStatus.Ledger, now: e.now(), identity: fmt.Sprintf("%s %s", d.GetUID(), e.statusTimestamp().Format("20060102T150405Z"))}
	var err error
	if f.content, err = f.marker.Encode(); err != nil {
		return facts{}, err
	}
	if err = e.readLedger(ctx, &f, s); err != nil {
		return facts{}, err
	}
	f.delivered = f.knownTrees()
	if e.asRead == nil || !e.actsByMandate(d, f) {
		f.spec.Mandate = nil
	}
	if f.siblings, err = e.gatherSiblings(ctx, d, f); err != nil {
		return facts{}, err
	}
	f.ledger.known = f.newestElsewhere(d)
	if f.sites, err = e.sitesByName(ctx, f.allSiteNames()); err != nil {
		return facts{}, err
	}
	if f.witnesses, err = e.gatherWitnesses(ctx, f); err != nil {
		return facts{}, err
	}
	if f, err = e.followHome(ctx, d, f); err != nil {
		return facts{}, err
	}
	f = e.guardForward(ctx, d, f).followLedger()
	f.decoded = decodeTrees(f.spec.Trees)
	if err = e.gatherDirectories(ctx, d, &f, s); err != nil && isPersistent(err) {
		f.ledger.obstacle, err = err, nil
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
func (e *external) gatherDirectories(ctx context.Context, d *v1alpha1.GitDelivery, f *facts, s *git.Snapshot) error {
	var err error
	if f.inBranch, err = e.commitsInBranch(ctx, *f, s); err != nil {
		return err
	}
	if f.restored, err = e.restoredTrees(ctx, d, *f, s); err != nil {
		return err
	}
	if f.parts, err = e.findParts(ctx, d, *f, s); err != nil {
		return err
	}
	if f.variables, err = e.deliveredVariables(ctx, *f, s); err != nil {
		return err
	}
	f.dirs = map[string]directory{}
	for _, path := range f.allDirectories() {
		if f.dirs[path], err = e.directoryAt(ctx, *f, s, path); err != nil {
			return err
		}
	}
	f.overlaps, err = e.findOverlaps(ctx, *f, s)
	return err
}

// commitsInBranch reports whether the last observed commit and the recorded commit are in the branch. It looks for the base only if the branch lacks the
// recorded commit.
func (e *external) commitsInBranch(ctx context.Context, f facts, s *git.Snapshot) (map[string]bool, error) {
	out := map[string]bool{unborn: true}
	find := func(commit string) error {
		if _, isKnown := out[commit]; isKnown || commit == "" {
			return nil
		}
		var err error
		out[commit], err = e.repo.Contains(ctx, s, commit)
		return err
	}
	if err := find(f.lastSeenCommit()); err != nil || f.memory == nil || f.memory.Commit == "" {
		return out, err
	}
	if err := find(f.memory.Commit); err != nil || out[f.memory.Commit] {
		return out, err
	}
	return out, find(f.memory.Base)
}

func (e *external) markerOfDelivery(d *v1alpha1.GitDelivery) marker.Marker {
	m := marker.Marker{Claim: d.Spec.ForProvider.ClaimRef, ControlPlane: e.config.Spec.ControlPlane, ClusterUID: e.clusterUID}
	m.Claim.UID = ""
	return m
}

func (e *external) sitesByName(ctx context.Context, names []string) (map[string]*catalogv1alpha1.Site, error) {
	out := map[string]*catalogv1alpha1.Site{}
	for _, name := range names {
		site := &catalogv1alpha1.Site{}
		err := e.kube.Get(ctx, client.ObjectKey{Name: name}, site)
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

// directoryAt returns the observed directory at a path. It is empty for a path that no repository can have: checkTrees refuses such a path.
func (e *external) directoryAt(ctx context.Context, f facts, s *git.Snapshot, path string) (directory, error) {
	entry, ok, err := s.Entry(ctx, path)
	if failure.ClassOf(err) == failure.ClassInvalid {
		return directory{}, nil
	}
	if err != nil {
		return directory{}, err
	}
	if ok && entry.Mode != objects.ModeTree {
		return directory{blocked: true}, nil
	}
	out := directory{}
	if out.entangled, err = e.nestedClaim(ctx, f, s, path); err != nil || !ok {
		return out, err
	}
	out.tree = entry.ID
	if out.marker, err = e.readMarkerAt(ctx, f, s, path+"/"+tree.Marker); err != nil {
		return out, err
	}
	out.orphaned, err = e.isLeftByOtherShape(ctx, f, out.marker)
	return out, err
}

// isLeftByOtherShape is true for the marker of a claim of the same name and another shape, if this cluster has no delivery for that claim any more.
func (e *external) isLeftByOtherShape(ctx context.Context, f facts, m *marker.Marker) (bool, error) {
	if m == nil || !isTrue(f.spec.Adopt) || m.SameClaim(f.marker) {
		return false, nil
	}
	expected := *m
	expected.Claim.APIGroup, expected.Claim.Kind = f.marker.Claim.APIGroup, f.marker.Claim.Kind
	if !expected.SameClaim(f.marker) || !f.isSameCluster(m.ClusterUID) {
		return false, nil
	}
	parts, err := e.deliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}

// deliveriesOf returns the GitDeliveries of a claim, also of another UID, the oldest first.
func (e *external) deliveriesOf(ctx context.Context, claim rolloutv1alpha1.ClaimReference) ([]v1alpha1.GitDelivery, error) {
	out, err := usage.OfClaim(ctx, e.kube, claim)
	slices.SortFunc(out, func(a, b v1alpha1.GitDelivery) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	return out, err
}

// nestedClaim returns the path of a claim's directory around or in another directory. A write of the outer directory removes the inner directory.
func (e *external) nestedClaim(ctx context.Context, f facts, s *git.Snapshot, directoryPath string) (string, error) {
	for dir := path.Dir(directoryPath); dir != "."; dir = path.Dir(dir) {
		if m, err := e.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker); m != nil || err != nil {
			return dir, err
		}
	}
	return e.claimInside(ctx, f, s, directoryPath)
}

// claimInside returns the path of the first claim's directory below a directory. Equal files with the name of a marker are read once.
func (e *external) claimInside(ctx context.Context, f facts, s *git.Snapshot, dir string) (string, error) {
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
			return "", aboutDirectory(dir, &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("more than %d different files below it are named %s", maxUnmanagedMarkers, tree.Marker)})
		}
		m, err := e.readMarkerAt(ctx, f, s, inner+"/"+tree.Marker)
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
func (e *external) readMarkerAt(ctx context.Context, f facts, s *git.Snapshot, path string) (*marker.Marker, error) {
	entry, ok, err := s.Entry(ctx, path)
	if err != nil || !ok || entry.Mode != objects.ModeFile {
		return nil, err
	}
	if entry.ID == objects.BlobID(f.content) {
		return &f.marker, nil
	}
	content, ok, err := e.repo.ReadFile(ctx, s, path)
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
func (e *external) readLedger(ctx context.Context, f *facts, s *git.Snapshot) error {
	l, claim := &f.ledger, f.spec.ClaimRef
	var err error
	if l.file, err = readLedgerFile(ctx, s, state.LedgerPath(claim), state.DecodeLedger, f); err != nil {
		return err
	}
	if l.record, err = readLedgerFile(ctx, s, state.RecordPath(claim), state.DecodeRecord, f); err != nil {
		return err
	}
	if f.unreadable == "" {
		if f.owner, f.unreadable, err = readStateOwner(ctx, s); err != nil {
			return err
		}
	}
	if f.retained, err = s.RetainedTrees(ctx, state.TreesPath(claim)); err != nil {
		return err
	}
	if l.file != nil {
		l.recorded, l.taken = l.file.State, l.file.TakenHead()
	}
	if l.record != nil {
		l.recorded.LastNumber = max(l.recorded.LastNumber, l.record.HighestNumber())
	}
	if l.record != nil && l.record.Head.Seq > 0 {
		f.memory = l.record
		return nil
	}
	return e.rebuildFromCommits(ctx, f, s)
}

// readLedgerFile returns a file of the state, or nil if there is none. The error of an invalid file goes into the facts.
func readLedgerFile[T any](ctx context.Context, s *git.Snapshot, path string, decode func([]byte) (T, error), f *facts) (*T, error) {
	content, ok, err := s.StateFile(ctx, path)
	if failure.ClassOf(err) == failure.ClassOccupied {
		f.unreadable = err.Error()
		return nil, nil //nolint:nilnil // The error is in the facts.
	}
	if err != nil || !ok {
		return nil, err
	}
	file, err := decode(content)
	var newer *state.NewerError
	switch {
	case errors.As(err, &newer):
		f.ledger.newer = path + ": " + err.Error()
		return nil, nil //nolint:nilnil // The error is in the facts.
	case err != nil:
		f.unreadable = path + ": " + err.Error()
		return nil, nil //nolint:nilnil,nilerr // The error is in the facts.
	}
	return &file, nil
}

// ledgerStateOf returns a state, or an empty state for nil.
func ledgerStateOf(s *ledger.State) ledger.State { return ptr.Deref(s, ledger.State{}) }
