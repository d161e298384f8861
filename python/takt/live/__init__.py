"""What runs beside a robot: watching, managing, the bridge, threads and alerts."""
