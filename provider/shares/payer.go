package shares

import "context"

type payerKey struct{}

// WithPayer returns the context of an operation that a namespace pays for. Empty stands for administrators.
func WithPayer(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, payerKey{}, namespace)
}

// PayerOf returns the namespace that pays for an operation, or another one if the context has none.
func PayerOf(ctx context.Context, otherwise string) string {
	if namespace, ok := ctx.Value(payerKey{}).(string); ok {
		return namespace
	}
	return otherwise
}
