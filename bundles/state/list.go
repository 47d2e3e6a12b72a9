package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// pageSize is the number of Secrets in one page. Each may have a megabyte, and takes about five megabytes of memory while it is decoded.
const pageSize = 4

// ListBundleStates returns all records of the namespace, or of all namespaces if the options name none, ordered by namespace and name. The error
// names each unreadable record; all readable records are returned with it.
func (c *Client) ListBundleStates(ctx context.Context) ([]BundleState, error) {
	out, broken := []BundleState{}, []error{}
	err := c.decodeRecords(ctx, func(secret *corev1.Secret) bool { return strings.HasPrefix(secret.Name, c.o.Prefix) }, func(_ string, s *BundleState, err error) {
		if err != nil {
			broken = append(broken, err)
			return
		}
		out = append(out, *s)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b BundleState) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Secret, b.Secret))
	})
	return out, errors.Join(broken...)
}

// EachRecord calls a function with each record and the name of its Secret, in no order, including records of other programs under another prefix. An
// unreadable record is nil, with an error. A record may have megabytes: if the function keeps no record, EachRecord needs the memory of one.
func (c *Client) EachRecord(ctx context.Context, visit func(secret string, s *BundleState, err error)) error {
	return c.decodeRecords(ctx, c.isRecordSecret, visit)
}

// UsersOf returns the names of the bundles that have a package and did not remove it, over all records of the namespace, including records of other
// programs under another prefix. A bundle in which the package is unreferenced does not use it. UsersOf returns an error for an unreadable record,
// since that bundle could use the package. It skips this client's records of the bundles in except.
func (c *Client) UsersOf(ctx context.Context, pkg string, except ...string) ([]string, error) {
	users, broken := map[string]bool{}, []error{}
	choose := func(secret *corev1.Secret) bool {
		return c.isRecordSecret(secret) && !c.isRecordOfBundles(secret, except)
	}
	err := c.decodeRecords(ctx, choose, func(_ string, s *BundleState, err error) {
		if err != nil {
			broken = append(broken, err)
			return
		}
		if s.Uses(pkg) {
			users[s.Name] = true
		}
	})
	if err := errors.Join(append(broken, err)...); err != nil {
		return nil, fmt.Errorf("cannot say which bundles use package %q: %w", pkg, err)
	}
	out := slices.AppendSeq([]string{}, maps.Keys(users))
	slices.Sort(out)
	return out, nil
}

// isRecordSecret reports whether a Secret holds a record, be it under another prefix.
func (c *Client) isRecordSecret(s *corev1.Secret) bool {
	return s.Type == SecretType || strings.HasPrefix(s.Name, c.o.Prefix)
}

// isRecordOfBundles reports whether a Secret has the name of the record of any of the bundles.
func (c *Client) isRecordOfBundles(s *corev1.Secret, bundles []string) bool {
	name, ok := strings.CutPrefix(s.Name, c.o.Prefix)
	return ok && slices.Contains(bundles, name)
}

// decodeRecords decodes the selected Secrets one after another.
func (c *Client) decodeRecords(ctx context.Context, choose func(*corev1.Secret) bool, visit func(secret string, s *BundleState, err error)) error {
	types := []corev1.SecretType{SecretType}
	if c.o.Legacy {
		types = append(types, corev1.SecretTypeOpaque)
	}
	for _, t := range types {
		err := c.visitSecrets(ctx, t, func(secret *corev1.Secret) {
			if !choose(secret) {
				return
			}
			s, err := c.decodeOwnRecord(secret)
			visit(secret.Name, s, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// visitSecrets reads the Secrets of a type, page by page.
func (c *Client) visitSecrets(ctx context.Context, t corev1.SecretType, read func(*corev1.Secret)) error {
	o := metav1.ListOptions{Limit: pageSize, FieldSelector: fields.OneTermEqualSelector("type", string(t)).String()}
	for {
		tooLarge, err := c.o.Page(ctx, func(ctx context.Context) error {
			list, err := c.kube.CoreV1().Secrets(c.o.Namespace).List(ctx, o)
			if err != nil {
				return err
			}
			for i := range list.Items {
				read(&list.Items[i])
			}
			o.Continue = list.Continue
			return nil
		})
		switch {
		case err != nil:
			return c.describeListing(err)
		case tooLarge && o.Limit == 1:
			return c.describeListing(errors.New("a Secret is too large"))
		case tooLarge:
			o.Limit = 1
		case o.Continue == "":
			return nil
		}
	}
}

// describeListing returns an error with the failed list, and with the missing right if access was denied.
func (c *Client) describeListing(err error) error {
	scope := "all namespaces"
	if c.o.Namespace != "" {
		scope = fmt.Sprintf("namespace %q", c.o.Namespace)
	}
	if kerrors.IsForbidden(err) {
		return fmt.Errorf("cannot list the records of %s: ask for the right to list Secrets there: %w", scope, err)
	}
	return fmt.Errorf("cannot list the records of %s: %w", scope, err)
}
