package state

import (
	"context"
	"errors"
	"fmt"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InitBundleState creates the record of a bundle, or updates it to the requested packages, and sets the status of the bundle. Packages that left the
// bundle become Unreferenced; new and returned packages become NotDeployed. Call it before each deployment and each removal. It returns ErrName for
// invalid names.
func (c *Client) InitBundleState(ctx context.Context, b Bundle, status Status) (*BundleState, error) {
	if err := errors.Join(checkBundle(b), checkBundleStatus(b.Name, status)); err != nil {
		return nil, err
	}
	return c.writeRecord(ctx, b.Name, func(s *BundleState) (*BundleState, error) {
		if s == nil {
			s = &BundleState{Name: b.Name}
		}
		mergeBundle(s, b, status)
		return s, nil
	})
}

// GetBundleState returns the record of a bundle. It returns ErrNoState if there is none.
func (c *Client) GetBundleState(ctx context.Context, name string) (*BundleState, error) {
	s, _, err := c.readRecord(ctx, name)
	if err == nil && s == nil {
		err = c.describeMissing(name)
	}
	return s, err
}

// GetBundlePkgState returns the record of a package. It returns ErrNoState without a record of the bundle, and ErrNoPackage if that does not
// have the package.
func (c *Client) GetBundlePkgState(ctx context.Context, name, pkg string) (*PkgStatus, error) {
	s, err := c.GetBundleState(ctx, name)
	if err != nil {
		return nil, err
	}
	return findPackage(s, pkg)
}

// findPackage returns a package of a record, or ErrNoPackage with the names of the recorded packages.
func findPackage(s *BundleState, name string) (*PkgStatus, error) {
	if p := s.Pkg(name); p != nil {
		return p, nil
	}
	names := make([]string, 0, len(s.PkgStatuses))
	for _, p := range s.PkgStatuses {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return nil, fmt.Errorf("%w: bundle %q has no package %q: it has %s", ErrNoPackage, s.Name, name, strings.Join(names, ", "))
}

// UpdateBundleState sets the status of a bundle, and applies the functions.
func (c *Client) UpdateBundleState(ctx context.Context, name string, status Status, changes ...func(*BundleState)) error {
	return c.Modify(ctx, name, func(s *BundleState) error {
		for _, change := range changes {
			change(s)
		}
		s.Status = status
		return nil
	})
}

// UpdateBundlePkgState sets the status of a package, and applies the functions, which may set Revision, Commit, Message and others. With Success
// after Deploying the wanted version becomes the deployed version, unless a function sets Version: set it where another program may request a newer
// version meanwhile. It returns ErrNoPackage for a package that the bundle does not have, and ErrTransition for a forbidden change of the status.
func (c *Client) UpdateBundlePkgState(ctx context.Context, name, pkg string, status Status, changes ...func(*PkgStatus)) error {
	return c.Modify(ctx, name, func(s *BundleState) error {
		p, err := findPackage(s, pkg)
		if err != nil {
			return err
		}
		applyStatus(p, status, c.o.Writer, changes)
		return nil
	})
}

// RemovePackage drops a package from the record of a bundle, once it is removed from the cluster. It returns ErrTransition for a package that
// is deployed.
func (c *Client) RemovePackage(ctx context.Context, name, pkg string) error {
	return c.Modify(ctx, name, func(s *BundleState) error {
		if _, err := findPackage(s, pkg); err != nil {
			return err
		}
		retained := make([]PkgStatus, 0, len(s.PkgStatuses))
		for _, p := range s.PkgStatuses {
			if p.Name != pkg {
				retained = append(retained, p)
			}
		}
		s.PkgStatuses = retained
		return nil
	})
}

// UnreferencedPackages returns the packages that left a bundle and are still in the cluster.
func (c *Client) UnreferencedPackages(ctx context.Context, name string) ([]PkgStatus, error) {
	s, err := c.GetBundleState(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Unreferenced(), nil
}

// RemoveBundleState deletes the record of a bundle. It returns nil without a record, and ErrDeployed while a package has another status than Removed,
// Unreferenced or NotDeployed.
func (c *Client) RemoveBundleState(ctx context.Context, name string) error {
	return retryConflicts(ctx, func(ctx context.Context) error {
		s, secret, err := c.readRecord(ctx, name)
		if err != nil || s == nil {
			return err
		}
		if left := deployedPackages(s); len(left) > 0 {
			return fmt.Errorf("%w: the record of bundle %q stays: remove the packages first: %s", ErrDeployed, name, strings.Join(left, ", "))
		}
		err = c.kube.CoreV1().Secrets(c.o.Namespace).Delete(ctx, secret.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion},
		})
		switch {
		case err == nil, kerrors.IsNotFound(err):
			return nil
		case kerrors.IsConflict(err):
			return &conflictError{err}
		}
		return c.describeFailure("remove", name, err)
	})
}

// deployedPackages returns the packages that still need the record of a bundle, with their statuses.
func deployedPackages(s *BundleState) []string {
	out := []string{}
	for _, p := range s.PkgStatuses {
		if p.Status != Removed && p.Status != NotDeployed && p.Status != Unreferenced {
			out = append(out, p.Name+" ("+string(p.Status)+")")
		}
	}
	return out
}
