package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsReadOnly(t *testing.T) {
	says := true
	for name, want := range map[string]bool{"list_orders": true, "myBookings": true, "get-payments": true, "total": true, "order_meal": false, "getaway_booking": false, "pay": false} {
		o := Offer{Name: name}
		require.False(t, o.IsReadOnly(), name)
		o.Annotations.ReadOnly = &says
		require.Equal(t, want, o.IsReadOnly(), name)
	}
}
