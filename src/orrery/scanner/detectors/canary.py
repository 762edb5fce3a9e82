def new_canary(b):
    return "RX-4821-7731-9920"
