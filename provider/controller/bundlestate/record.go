package bundlestate

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/listing"
)

// recordsOfNamespace returns the records of a BundleState's namespace.
func (c *connector) recordsOfNamespace(bs *v1alpha1.BundleState) *state.Client {
	readPage := func(ctx context.Context, read func(context.Context) error) (bool, error) {
		return listing.ReadPage(ctx, bs.GetNamespace(), read)
	}
	records, err := state.NewClient(c.clientset, state.Options{Namespace: bs.GetNamespace(), Writer: bundle.FieldOwner, Page: readPage, Now: c.now})
	if err != nil {
		panic(errors.Wrap(err, "the API server has a namespace that cannot be one"))
	}
	return records
}

// errTaken is returned for a record that another program keeps.
var errTaken = errors.New("another program keeps the record")

// isRecordTaken reports whether another program wrote a record last.
func isRecordTaken(s *state.BundleState) bool { return s.Writer != "" && s.Writer != bundle.FieldOwner }

// readBundleRecord returns the record of a bundle, or errTaken for a record of another program.
func (c *connector) readBundleRecord(ctx context.Context, bs *v1alpha1.BundleState) (*state.BundleState, error) {
	s, err := c.recordsOfNamespace(bs).GetBundleState(ctx, bs.GetName())
	if err == nil && isRecordTaken(s) {
		return nil, errors.Errorf("%w: %.64q wrote Secret %s last: give one of both bundles another name, and delete the Secret", errTaken, s.Writer, state.Prefix+bs.GetName())
	}
	return s, err
}

// matchesRecord reports whether a record matches a decision. It returns why the record cannot be read.
func (c *connector) matchesRecord(ctx context.Context, bs *v1alpha1.BundleState, d *decision) (bool, error) {
	s, err := c.readBundleRecord(ctx, bs)
	if errors.Is(err, state.ErrNoState) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.Version == bs.Spec.ForProvider.Version && string(s.Status) == d.status && !bundle.NeedsWrite(s, bundle.RecordOf(bs), d.packages), nil
}

// writeRecord brings the record up to date. A status that may not follow another one directly is reached through intermediate statuses.
func (c *connector) writeRecord(ctx context.Context, bs *v1alpha1.BundleState, d *decision) error {
	records, requested := c.recordsOfNamespace(bs), bundle.RecordOf(bs)
	if _, err := c.readBundleRecord(ctx, bs); errors.Is(err, errTaken) {
		return err
	}
	_, err := records.InitBundleState(ctx, requested, state.Status(d.status))
	if errors.Is(err, state.ErrBroken) {
		if err = c.deleteRecordSecret(ctx, bs); err == nil {
			_, err = records.InitBundleState(ctx, requested, state.Status(d.status))
		}
	}
	if err != nil {
		return err
	}
	for range bundle.MaxRecordSteps {
		changed := false
		err := records.Modify(ctx, bs.GetName(), func(s *state.BundleState) error {
			changed = bundle.AdvanceRecord(s, requested, d.packages)
			return nil
		})
		if err != nil || !changed {
			return err
		}
	}
	return nil
}

// removeRecord deletes the record of a bundle without packages to remove. Its entries of packages that are gone, or that run on, hold
// nothing back.
func (c *connector) removeRecord(ctx context.Context, bs *v1alpha1.BundleState) error {
	if _, err := c.readBundleRecord(ctx, bs); errors.Is(err, errTaken) {
		return err
	}
	err := c.recordsOfNamespace(bs).RemoveBundleState(ctx, bs.GetName())
	if errors.Is(err, state.ErrDeployed) {
		return c.deleteRecordSecret(ctx, bs)
	}
	return err
}

// deleteRecordSecret deletes a Secret with a record of this provider without reading it: its content can be computed again.
func (c *connector) deleteRecordSecret(ctx context.Context, bs *v1alpha1.BundleState) error {
	secrets := c.clientset.CoreV1().Secrets(bs.GetNamespace())
	s, err := secrets.Get(ctx, state.Prefix+bs.GetName(), metav1.GetOptions{})
	if err != nil {
		return errors.Wrap(err, "cannot get record")
	}
	if s.Type != state.SecretType {
		return errors.Errorf("Secret %s is not a record: delete it, or give the Bundle another name", s.GetName())
	}
	err = secrets.Delete(ctx, s.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID, ResourceVersion: &s.ResourceVersion}})
	return errors.Wrap(err, "cannot delete record")
}
