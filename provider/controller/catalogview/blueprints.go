package catalogview

import (
	"context"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/provider/listing"
)

// blueprintViews cache the published view of each Blueprint. The cache holds metadata alone, so each Blueprint is read once for each of its
// versions. They are safe for concurrent use.
type blueprintViews struct {
	kube client.Reader
	live client.Reader

	mu sync.Mutex
	of map[types.UID]blueprintView
	// text is the document of all, as long as none of them changes.
	text string
}

// A blueprintView is the published view of a Blueprint, as long as generation and channel are the same.
type blueprintView struct {
	view       catalogview.Blueprint
	generation int64
	channel    string
}

func newBlueprintViews(kube, live client.Reader) *blueprintViews {
	return &blueprintViews{kube: kube, live: live, of: map[types.UID]blueprintView{}}
}

// blueprintDocument returns the document of all Blueprints. It returns an error if one cannot be read.
func (b *blueprintViews) blueprintDocument(ctx context.Context) (string, error) {
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(catalogv1alpha1.GroupVersion.WithKind("BlueprintList"))
	if err := listing.Cached(ctx, b.kube, all); err != nil {
		return "", errors.Wrap(err, "cannot list Blueprints")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	changed, err := b.refreshBlueprints(ctx, all.Items)
	if err != nil {
		b.text = "" // Some may have changed before the error.
		return "", err
	}
	if !changed && b.text != "" {
		return b.text, nil
	}
	views := make([]catalogview.Blueprint, 0, len(b.of))
	for _, v := range b.of {
		views = append(views, v.view)
	}
	b.text, err = catalogview.EncodeBlueprints(views)
	return b.text, err
}

// refreshBlueprints reads new Blueprints and Blueprints with another channel, and drops deleted ones. It reports whether there were some.
func (b *blueprintViews) refreshBlueprints(ctx context.Context, all []metav1.PartialObjectMetadata) (bool, error) {
	current, changed := map[types.UID]bool{}, false
	for i := range all {
		m := &all[i]
		if m.DeletionTimestamp != nil {
			continue
		}
		current[m.UID] = true
		if previous, isKnown := b.of[m.UID]; isKnown && previous.generation == m.Generation && previous.channel == m.Labels[catalogv1alpha1.LabelChannel] {
			continue
		}
		o := &catalogv1alpha1.Blueprint{}
		if err := b.live.Get(ctx, client.ObjectKeyFromObject(m), o); err != nil {
			if client.IgnoreNotFound(err) == nil {
				continue // The cache does not have its deletion yet.
			}
			return false, errors.Wrapf(err, "cannot get Blueprint %q", m.Name)
		}
		b.of[m.UID] = blueprintView{view: catalogview.ForBlueprint(o), generation: m.Generation, channel: m.Labels[catalogv1alpha1.LabelChannel]}
		changed = true
	}
	for uid := range b.of {
		if !current[uid] {
			delete(b.of, uid)
			changed = true
		}
	}
	return changed, nil
}
