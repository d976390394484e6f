import { endpoint } from '../kit/endpoint.ts'

export const getMetrics = endpoint({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Metrics for Prometheus',
  description:
    'The bearer token is `ROOST_METRICS_TOKEN`. Without that variable only the internal secret is accepted. docs/operate/metrics.md lists the metrics.',
  tag: 'Internal',
  access: { who: 'internal', alsoAdmits: 'metrics_token' },
  streams: ['text/plain'],
})
