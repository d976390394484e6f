import { endpoint } from '../kit/endpoint.ts'

export const getMetrics = endpoint({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Metrics for Prometheus, from loopback only',
  tag: 'Internal',
  access: { who: 'internal' },
  streams: ['text/plain'],
})
