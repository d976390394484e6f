/**
 * Alerts: messages of the platform to its operators.
 *
 * Owns how features raise and clear an alert: in the transaction that finds the cause. Promises that an alert is
 * stored when that transaction commits, or that the transaction fails. The operator queue registers the one sink.
 */
export { type AlertSink, type Alerts, createAlerts } from './service.ts'
