package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// Prefix is the default prefix of the names of Secrets.
const Prefix = "intentplane-bundle-"

// Pauses between two attempts of a write, while other writers change the same record.
const (
	shortestPause = 2 * time.Millisecond
	longestPause  = 250 * time.Millisecond
)

// Options configure the location of the records, and their writer.
type Options struct {
	// Namespace of the records. Empty means all namespaces, which only ListBundleStates accepts.
	Namespace string

	// Prefix of the names of their Secrets, before the name of the bundle. The default is Prefix.
	Prefix string

	// Writer names the program and its instance, such as "provider/" and a UID. It is recorded with each change. BundleState.Stale compares it,
	// so that an instance finds unfinished changes of another instance.
	Writer string

	// CreateNamespace lets InitBundleState create the namespace if it does not exist.
	CreateNamespace bool

	// Legacy lets ListBundleStates and UsersOf read the records of uds-cli too: those are Opaque Secrets, so that they have to read all Secrets
	// of that type.
	Legacy bool

	// Page calls a function that requests one page of a list, and that holds the page no longer than it runs. A program that lists many records limits their
	// rate and memory with it. If Page reports that the page is too large, the client requests fewer Secrets. The default calls the function at once.
	Page func(ctx context.Context, read func(ctx context.Context) error) (tooLarge bool, err error)

	// Now returns the time. The default is time.Now.
	Now func() time.Time
}

// UDS returns the options for records at the location of uds-cli.
func UDS() Options {
	return Options{Namespace: "uds", Prefix: "uds-bundle-", CreateNamespace: true, Legacy: true}
}

// A Client reads and writes records. It is safe for concurrent use. A write is repeated while other programs change the record, until its context
// ends: set a deadline. The client needs get, list, create, update and delete of Secrets in its namespace, each only for the methods that do it.
type Client struct {
	kube kubernetes.Interface
	o    Options
}

// NewClient returns a client. It sends no request, so it works without a cluster; the methods of the client then return errors. It returns an error
// without a connection, and ErrName for an invalid namespace or prefix.
func NewClient(kube kubernetes.Interface, o Options) (*Client, error) {
	if kube == nil {
		return nil, errors.New("cannot keep records without a client for Kubernetes: make one with kubernetes.NewForConfig")
	}
	if o.Prefix == "" {
		o.Prefix = Prefix
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Page == nil {
		o.Page = func(ctx context.Context, read func(context.Context) error) (bool, error) { return false, read(ctx) }
	}
	if wrong := validation.IsDNS1123Subdomain(o.Prefix + "a"); len(wrong) > 0 {
		return nil, fmt.Errorf("%w: prefix %q: %s", ErrName, o.Prefix, wrong[0])
	}
	if wrong := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(wrong) > 0 {
		return nil, fmt.Errorf("%w: namespace %q: %s", ErrName, o.Namespace, wrong[0])
	}
	return &Client{kube: kube, o: o}, nil
}

// Modify changes a record by a function. The function gets the current record, and is called again after a conflict with another writer. Modify
// returns ErrNoState without a record, ErrTransition for a forbidden change, and the error of the function. It writes only if the function changed
// the record without an error.
func (c *Client) Modify(ctx context.Context, name string, change func(*BundleState) error) error {
	_, err := c.writeRecord(ctx, name, func(s *BundleState) (*BundleState, error) {
		if s == nil {
			return nil, c.describeMissing(name)
		}
		original, err := copyRecord(s)
		if err != nil {
			return nil, err
		}
		if err := change(s); err != nil {
			return nil, err
		}
		return s, checkChange(original, s)
	})
	return err
}

// describeMissing returns ErrNoState with the action for the caller.
func (c *Client) describeMissing(name string) error {
	return fmt.Errorf("%w: bundle %q has none in namespace %q (Secret %s): deploy the bundle, which makes one (InitBundleState)",
		ErrNoState, name, c.o.Namespace, c.o.Prefix+name)
}

// recordSecretName returns the name of a bundle's Secret.
func (c *Client) recordSecretName(bundle string) (string, error) {
	if c.o.Namespace == "" {
		return "", fmt.Errorf("%w: a record is in one namespace: name it in the options", ErrName)
	}
	name := c.o.Prefix + bundle
	if wrong := validation.IsDNS1123Subdomain(name); bundle == "" || len(wrong) > 0 {
		return "", fmt.Errorf("%w: bundle %q would have a Secret %q, which has to be lower-case letters, digits, '-' and '.', at most %d of them",
			ErrName, bundle, name, validation.DNS1123SubdomainMaxLength)
	}
	return name, nil
}

// readRecord returns a record with its Secret. Both are nil if there is none.
func (c *Client) readRecord(ctx context.Context, bundle string) (*BundleState, *corev1.Secret, error) {
	name, err := c.recordSecretName(bundle)
	if err != nil {
		return nil, nil, err
	}
	secret, err := c.kube.CoreV1().Secrets(c.o.Namespace).Get(ctx, name, metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, c.describeFailure("read", bundle, err)
	}
	s, err := c.decodeOwnRecord(secret)
	return s, secret, err
}

// decodeOwnRecord decodes a Secret, and returns ErrForeign if its name and its record name different bundles.
func (c *Client) decodeOwnRecord(secret *corev1.Secret) (*BundleState, error) {
	s, err := Decode(secret)
	if err != nil {
		return nil, err
	}
	if bundle, ours := strings.CutPrefix(secret.Name, c.o.Prefix); ours && s.Name != bundle {
		return nil, fmt.Errorf("%w: Secret %s/%s holds that of %q, not of %q: repair the Secret, or delete it and deploy the bundle again",
			ErrForeign, secret.Namespace, secret.Name, s.Name, bundle)
	}
	return s, nil
}

// describeFailure returns an error with the failed operation, and with the missing right if access was denied.
func (c *Client) describeFailure(verb, bundle string, err error) error {
	if kerrors.IsForbidden(err) {
		return fmt.Errorf("cannot %s the record of bundle %q: ask for the right to get, create, update and delete Secrets in namespace %q: %w",
			verb, bundle, c.o.Namespace, err)
	}
	return fmt.Errorf("cannot %s the record of bundle %q in namespace %q: %w", verb, bundle, c.o.Namespace, err)
}

// writeRecord changes a record, or makes one: change gets nil if there is none. It tries again after a conflict.
func (c *Client) writeRecord(ctx context.Context, bundle string, change func(*BundleState) (*BundleState, error)) (*BundleState, error) {
	var written *BundleState
	err := retryConflicts(ctx, func(ctx context.Context) error {
		s, secret, err := c.readRecord(ctx, bundle)
		if err != nil {
			return err
		}
		written, err = c.writeRecordOnce(ctx, bundle, s, secret, change)
		return err
	})
	return written, err
}

func (c *Client) writeRecordOnce(ctx context.Context, bundle string, s *BundleState, secret *corev1.Secret, change func(*BundleState) (*BundleState, error)) (*BundleState, error) {
	original := &BundleState{}
	if s != nil {
		var err error
		if original, err = copyRecord(s); err != nil {
			return nil, err
		}
	}
	s, err := change(s)
	if err != nil {
		return nil, err
	}
	if hasEqualJSON(original, s) {
		return s, nil
	}
	c.stampChanges(original, s)
	if err := checkRecord(s); err != nil {
		return nil, fmt.Errorf("cannot write the record of bundle %q: %w", bundle, err)
	}
	return s, c.storeRecord(ctx, bundle, s, secret)
}

// stampChanges sets the writer and the time of each changed part of a record.
func (c *Client) stampChanges(original, s *BundleState) {
	now := c.o.Now().UTC().Round(0)
	for i := range s.PkgStatuses {
		if p := &s.PkgStatuses[i]; !hasEqualJSON(original.Pkg(p.Name), p) {
			p.DateUpdated = now
		}
	}
	s.DateUpdated, s.Schema, s.Writer = now, Schema, c.o.Writer
}

// storeRecord updates the Secret that was read, or makes one.
func (c *Client) storeRecord(ctx context.Context, bundle string, s *BundleState, secret *corev1.Secret) error {
	fresh := secret == nil
	if fresh {
		secret = &corev1.Secret{Type: SecretType}
		secret.Namespace, secret.Name = c.o.Namespace, c.o.Prefix+bundle
	}
	if err := encodeSecret(s, secret); err != nil {
		return err
	}
	s.Namespace, s.Secret = secret.Namespace, secret.Name
	if fresh {
		return c.createSecret(ctx, bundle, secret)
	}
	_, err := c.kube.CoreV1().Secrets(c.o.Namespace).Update(ctx, secret, metav1.UpdateOptions{})
	if kerrors.IsConflict(err) || kerrors.IsNotFound(err) {
		return &conflictError{err}
	}
	if err != nil {
		return c.describeFailure("write", bundle, err)
	}
	return nil
}

// createSecret creates a Secret, and the namespace if it is missing and CreateNamespace is set. It does not request an existing namespace, so that
// rights in the namespace suffice.
func (c *Client) createSecret(ctx context.Context, bundle string, secret *corev1.Secret) error {
	_, err := c.kube.CoreV1().Secrets(c.o.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	if kerrors.IsNotFound(err) && c.o.CreateNamespace {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.o.Namespace}}
		_, err = c.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err == nil || kerrors.IsAlreadyExists(err) {
			_, err = c.kube.CoreV1().Secrets(c.o.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		}
	}
	switch {
	case err == nil:
		return nil
	case kerrors.IsAlreadyExists(err):
		return &conflictError{err}
	case kerrors.IsNotFound(err):
		return fmt.Errorf("cannot write the record of bundle %q: namespace %q does not exist: create it: %w", bundle, c.o.Namespace, err)
	}
	return c.describeFailure("write", bundle, err)
}

// A conflictError means that another writer changed the Secret after it was read.
type conflictError struct{ error }

// Unwrap returns the error of the API server.
func (e *conflictError) Unwrap() error { return e.error }

// retryConflicts repeats a write after a conflict, until the context ends: each conflict means that another writer succeeded. It waits longer after
// each conflict, so that many writers spread out.
func retryConflicts(ctx context.Context, try func(context.Context) error) error {
	pause := shortestPause
	for n := 1; ; n++ {
		err := try(ctx)
		if conflict := (*conflictError)(nil); !errors.As(err, &conflict) {
			return err
		}
		timer := time.NewTimer(wait.Jitter(pause, 1))
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("other programs changed the record each of %d times that it was to be changed: %w: %w", n, ctx.Err(), err)
		case <-timer.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// copyRecord returns a deep copy.
func copyRecord(s *BundleState) (*BundleState, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := &BundleState{}
	return out, json.Unmarshal(b, out)
}

// hasEqualJSON reports whether two values are written alike.
func hasEqualJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
