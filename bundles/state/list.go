package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// pageSize is how many Secrets are read at once.
const pageSize = 200

// ListBundleStates returns all records of the namespace, or of all namespaces if the options name none, ordered by namespace and name. A
// record that cannot be read is part of the error; the others are returned with it.
func (c *Client) ListBundleStates(ctx context.Context) ([]BundleState, error) {
	return c.listRecords(ctx, func(s *corev1.Secret) bool { return strings.HasPrefix(s.Name, c.o.Prefix) })
}

// UsersOf returns the names of the bundles that have a package and did not remove it, over all records of the namespace, also those that other
// programs keep under another prefix. A bundle in which it is unreferenced does not use it. It returns an error if a record cannot be read,
// since that could be the one of a user. Records that this client keeps of the bundles in except are not read.
func (c *Client) UsersOf(ctx context.Context, pkg string, except ...string) ([]string, error) {
	all, err := c.listRecords(ctx, func(s *corev1.Secret) bool { return c.isRecord(s) && !c.isRecordOf(s, except) })
	if err != nil {
		return nil, fmt.Errorf("cannot say which bundles use package %q: %w", pkg, err)
	}
	out := []string{}
	for _, s := range all {
		if p := s.Pkg(pkg); p != nil && p.Status != Removed && p.Status != Unreferenced && !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

// isRecord reports whether a Secret holds a record, be it under another prefix.
func (c *Client) isRecord(s *corev1.Secret) bool {
	return s.Type == SecretType || strings.HasPrefix(s.Name, c.o.Prefix)
}

// isRecordOf reports whether a Secret has the name of the record of one of some bundles.
func (c *Client) isRecordOf(s *corev1.Secret, bundles []string) bool {
	name, ok := strings.CutPrefix(s.Name, c.o.Prefix)
	return ok && slices.Contains(bundles, name)
}

// listRecords returns the records of the Secrets that are chosen.
func (c *Client) listRecords(ctx context.Context, choose func(*corev1.Secret) bool) ([]BundleState, error) {
	types := []corev1.SecretType{SecretType}
	if c.o.Legacy {
		types = append(types, corev1.SecretTypeOpaque)
	}
	out, broken := []BundleState{}, []error{}
	for _, t := range types {
		err := c.eachSecret(ctx, t, func(secret *corev1.Secret) {
			if !choose(secret) {
				return
			}
			s, err := c.decodeOwn(secret)
			if err != nil {
				broken = append(broken, err)
				return
			}
			out = append(out, *s)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b BundleState) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Secret, b.Secret))
	})
	return out, errors.Join(broken...)
}

// eachSecret reads the Secrets of a type, page by page.
func (c *Client) eachSecret(ctx context.Context, t corev1.SecretType, read func(*corev1.Secret)) error {
	o := metav1.ListOptions{Limit: pageSize, FieldSelector: fields.OneTermEqualSelector("type", string(t)).String()}
	for {
		list, err := c.kube.CoreV1().Secrets(c.o.Namespace).List(ctx, o)
		if err != nil {
			return c.describeListing(err)
		}
		for i := range list.Items {
			read(&list.Items[i])
		}
		if o.Continue = list.Continue; o.Continue == "" {
			return nil
		}
	}
}

// describeListing says what could not be listed, and where rights are missing, which.
func (c *Client) describeListing(err error) error {
	where := "all namespaces"
	if c.o.Namespace != "" {
		where = fmt.Sprintf("namespace %q", c.o.Namespace)
	}
	if kerrors.IsForbidden(err) {
		return fmt.Errorf("cannot list the records of %s: ask for the right to list Secrets there: %w", where, err)
	}
	return fmt.Errorf("cannot list the records of %s: %w", where, err)
}
